import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LinkReceiver } from '../../transport/index.js';
import { Flag, Kind, XioStatus } from '../../wire/index.js';
import { connected, type Liar } from '../support/liar.js';
import { echo, SCENES } from '../support/scenes.js';

const NOTHING = new Uint8Array(0);

type Lie = (liar: Liar) => void;

const request = { kind: Kind.REQUEST, sn: 1 } as const;

const direct = { ...request, flags: Flag.DIRECT };

function directHeader({ operation = 1, offset = 0n, length = 0n }): Uint8Array {
  const bytes = new Uint8Array(40);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, operation);
  view.setBigUint64(24, offset);
  view.setBigUint64(32, length);
  return bytes;
}

/** What cannot be true, said in a session that is there. */
const LIES: Readonly<Record<string, Lie>> = {
  'a TLV of another kind of message': (liar) => liar.say(request, NOTHING, NOTHING, (view) => view.setUint32(0, 7)),
  'a TLV that is longer than its message': (liar) =>
    liar.say(request, NOTHING, NOTHING, (view) => view.setUint32(12, 500)),
  'a TLV of 2^32 bytes': (liar) => liar.say(request, NOTHING, NOTHING, (view) => view.setUint32(8, 1)),
  'a kind that does not exist': (liar) => liar.say({}, NOTHING, NOTHING, (view) => view.setUint32(4, 0x77)),
  'a header that is longer than the head': (liar) =>
    liar.say(request, NOTHING, NOTHING, (view) => view.setUint16(70, 5)),
  'a number beyond 2^53': (liar) => liar.say(request, NOTHING, NOTHING, (view) => view.setUint32(16, 0xffff_ffff)),
  'a status that does not exist': (liar) => liar.say(request, NOTHING, NOTHING, (view) => view.setUint32(56, 12)),
  'flags that do not exist': (liar) => liar.say({ ...request, flags: 0x100 }),
  'no number where there is one': (liar) => liar.say({ kind: Kind.REQUEST, sn: 0 }),
  'a number where there is none': (liar) => liar.say({ kind: Kind.NOP, sn: 1 }),
  'a body where there is none': (liar) => liar.say({ kind: Kind.CANCEL, sn: 2, about: 1 }, NOTHING, new Uint8Array(4)),
  'a body of another length than its head says': (liar) =>
    liar.say({ ...request, bodyBytes: 9 }, NOTHING, new Uint8Array(4)),
  'a number that leaves one out': (liar) => liar.say({ ...request, sn: 2 }),
  'an old number again': (liar) => {
    liar.say(request);
    liar.say(request);
  },
  'that more has come than was sent': (liar) => liar.say({ ackSn: 5 }),
  'credit beyond its room': (liar) => liar.say({ grantedMessages: 9, grantedBytes: 1000 }),
  'less credit than before': (liar) => liar.say({ grantedMessages: 7, grantedBytes: 1000 }),
  'bytes of credit beyond its room': (liar) => liar.say({ grantedMessages: 8, grantedBytes: 2 ** 52 }),
  'an answer to what nobody has asked': (liar) => liar.say({ kind: Kind.RESPONSE, sn: 1, about: 1 }),
  'a receipt for what was not sent': (liar) => liar.say({ kind: Kind.RECEIPT, sn: 1, about: 3 }),
  'the end of what has not come': (liar) => liar.say({ kind: Kind.CANCEL, sn: 1, about: 1 }),
  'a header that is too long': (liar) => liar.say(request, new Uint8Array(257)),
  'more than it has credit for': (liar) => {
    for (let sn = 1; sn <= 5; sn += 1) liar.say({ kind: Kind.ONE_WAY, sn });
  },
  'more bytes than it has credit for': (liar) => {
    for (let sn = 1; sn <= 3; sn += 1) liar.say({ kind: Kind.ONE_WAY, sn }, NOTHING, new Uint8Array(1500));
  },
  'something after FIN': (liar) => {
    liar.say({ kind: Kind.FIN, sn: 1 });
    liar.say({ ...request, sn: 2 });
  },
  'a direct request that is cut off': (liar) => liar.say(direct, new Uint8Array(39)),
  'a direct request that is too long': (liar) => liar.say(direct, new Uint8Array(65)),
  'a direct request of no operation': (liar) => liar.say(direct, directHeader({ operation: 0 })),
  'a direct request of an operation that does not exist': (liar) => liar.say(direct, directHeader({ operation: 5 })),
  'a direct request for bytes beyond 2^53': (liar) =>
    liar.say(direct, directHeader({ operation: 2, offset: 2n ** 53n })),
  'a WRITE of another length than its body': (liar) =>
    liar.say(direct, directHeader({ operation: 3, length: 5n }), new Uint8Array(4)),
  'a READ with a body': (liar) => liar.say(direct, directHeader({ operation: 2, length: 4n }), new Uint8Array(4)),
  'an answer for a server': (liar) => liar.say({ kind: Kind.SESSION_ANSWER }, new Uint8Array(60)),
  'a session within a session': (liar) => liar.ask(),
};

for (const [name, play] of Object.entries(SCENES))
  describe(`a server by ${name}`, () => {
    for (const [what, lie] of Object.entries(LIES))
      it(`ends the session of a client that says ${what}, and no other`, () =>
        play(async (scene) => {
          const { listen, connect, until } = scene;
          const server = await listen({ queueMessages: 4, queueBytes: 2000, maxBodyBytes: 2000 });
          echo(server);
          const honest = await connect(server.url);
          await honest.request('', 'before');
          const liar = await scene.inClient(() => connected(scene, server.url));
          liar.ask();
          await until(() => liar.heard.some(({ kind }) => kind === Kind.SESSION_ANSWER));
          assert.equal(server.sessions, 2);
          lie(liar);
          await until(() => server.sessions === 1);
          await until(() => liar.end.ends.length === 1);
          const last = liar.heard.at(-1);
          assert.deepEqual([last?.kind, last?.status], [Kind.ABORT, XioStatus.XIO_E_MSG_INVALID]);
          assert.equal((await honest.request('', 'after')).body.length, 5);
        }));

    it('hears nobody who does not begin with a session, or who names one that it does not know', () =>
      play(async (scene) => {
        const { listen, until } = scene;
        const server = await listen();
        echo(server);
        const first = await scene.inClient(() => connected(scene, server.url));
        first.say(request);
        await until(() => first.end.ends.length === 1);
        const second = await scene.inClient(() => connected(scene, server.url));
        second.ask({ isKnown: true });
        await until(() => second.heard.length === 1);
        assert.equal(server.sessions, 0);
        // It may begin one now.
        second.ask();
        await until(() => server.sessions === 1);
        const third = await scene.inClient(() => connected(scene, server.url));
        third.ask({ connection: 64 });
        await until(() => third.end.ends.length === 1);
        assert.equal(server.sessions, 1);
      }));

    it('answers once to a peer that asks for signs of life and has no room for them', () =>
      play(async (scene) => {
        const { listen, until } = scene;
        let hasRoom = true;
        let asked = 0;
        scene.around = (link, end) => {
          if (end === 'client') return link;
          return new Proxy(link, {
            get: (of, key) => {
              if (key === 'canSend') return hasRoom && of.canSend;
              if (key === 'open')
                return (receiver: LinkReceiver) => {
                  const told: LinkReceiver = Object.create(receiver, {
                    onMessage: {
                      value: (...message: Parameters<LinkReceiver['onMessage']>) => {
                        asked += 1;
                        receiver.onMessage(...message);
                      },
                    },
                    landing: { value: receiver.landing.bind(receiver) },
                    onRoom: { value: () => receiver.onRoom() },
                    onEnd: { value: receiver.onEnd.bind(receiver) },
                  }) as LinkReceiver;
                  of.open(told);
                };
              const value: unknown = Reflect.get(of, key, of);
              return typeof value === 'function' ? (value.bind(of) as unknown) : value;
            },
          });
        };
        const server = await listen();
        echo(server);
        const liar = await scene.inClient(() => connected(scene, server.url));
        liar.ask();
        await until(() => liar.heard.length > 0);
        hasRoom = false;
        asked = 0;
        for (let i = 0; i < 20; i += 1) liar.say({ kind: Kind.KEEP_ALIVE });
        await until(() => asked === 20);
        hasRoom = true;
        liar.say({ kind: Kind.REQUEST, sn: 1 });
        await until(() => liar.heard.some(({ kind }) => kind === Kind.RESPONSE));
        const alive = liar.heard.filter(({ kind }) => kind === Kind.ALIVE).length;
        assert.equal(alive, 1);
      }));
  });
