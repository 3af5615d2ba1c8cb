import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Action, encodeMove, Kind, XioStatus } from '../../wire/index.js';
import { type Heard, lyingServer } from '../support/lying-server.js';
import { type Net, NETS } from '../support/nets.js';
import { codeOf } from '../support/scenes.js';

/** Writes over bytes of an answer. */
const written =
  (at: number, ...bytes: readonly number[]) =>
  (answer: Uint8Array): Uint8Array => {
    answer.set(bytes, at);
    return answer;
  };

const REJECT = { action: Action.REJECT, status: XioStatus.XIO_E_SESSION_REJECTED, words: 'no' } as const;

/** Answers to SESSION that cannot be true. */
const ANSWERS: Readonly<Record<string, (heard: Heard) => void>> = {
  'that it rejects it with success': (heard) => heard.answer({ ...REJECT, status: XioStatus.XIO_E_SUCCESS }),
  'that it rejects it with a status that does not exist': (heard) => heard.answer(REJECT, written(12, 0, 0, 0, 9)),
  'that it rejects it, with addresses': (heard) => heard.answer({ ...REJECT, addresses: ['tcp://a:1'] }),
  'that it rejects it, with words that are not there': (heard) => heard.answer(REJECT, written(38, 0, 3)),
  'that it rejects it, with more words than there can be': (heard) =>
    heard.answer({ ...REJECT, words: 'w'.repeat(1025) }),
  'that it rejects it, with more private data than there can be': (heard) =>
    heard.answer({ ...REJECT, privateData: new Uint8Array(2049) }),
  'that it takes it, and why not': (heard) => heard.answer({ words: 'why' }),
  'that it sends it on to nobody': (heard) => heard.answer({ action: Action.REDIRECT }),
  'that it sends it on, with an address that is cut off': (heard) =>
    heard.answer({ action: Action.REDIRECT, addresses: ['tcp://a:1'] }, written(40, 0xff, 0xff)),
  'that it does not know a session which is new': (heard) => heard.answer({ action: Action.UNKNOWN }),
};

/** What cannot be true of MOVE, in a session that is there. */
const MOVES: Readonly<Record<string, (heard: Heard) => void>> = {
  'to nobody': (heard) => heard.say({ kind: Kind.MOVE, sn: 1 }, encodeMove([])),
  'without addresses': (heard) => heard.say({ kind: Kind.MOVE, sn: 1 }),
  'to an address that is cut off': (heard) =>
    heard.say({ kind: Kind.MOVE, sn: 1 }, encodeMove(['tcp://a:1']).subarray(0, 8)),
  'without a number': (heard) => heard.say({ kind: Kind.MOVE }, encodeMove(['tcp://a:1'])),
  twice: (heard) => {
    heard.say({ kind: Kind.MOVE, sn: 1 }, encodeMove(['tcp://a:1']));
    heard.say({ kind: Kind.MOVE, sn: 2 }, encodeMove(['tcp://a:1']));
  },
  'after FIN': (heard) => {
    heard.say({ kind: Kind.FIN, sn: 1 });
    heard.say({ kind: Kind.MOVE, sn: 2 }, encodeMove(['tcp://a:1']));
  },
  'as an answer': (heard) => heard.answer({ action: Action.REDIRECT, addresses: ['tcp://a:1'] }),
};

for (const [name, play] of Object.entries(NETS)) {
  const test = (what: string, scene: (net: Net) => Promise<void>): void => void it(what, () => play(scene));

  describe(`a client over ${name}`, () => {
    for (const [what, lie] of Object.entries(ANSWERS))
      test(`does not begin a session with a server that says ${what}`, async (net) => {
        const links = await lyingServer(net, lie);
        assert.equal(await codeOf(net.settled(net.connect())), 'XIO_E_MSG_INVALID');
        assert.equal(links.length, 1);
      });

    for (const [what, lie] of Object.entries(MOVES))
      test(`ends a session with a server that sends it on ${what}`, async (net) => {
        const links = await lyingServer(net, (heard) => heard.answer({}));
        const session = await net.connect();
        const asked = codeOf(session.request());
        lie(links[0]);
        await net.settled(session.closed);
        assert.equal(session.failure?.code, 'XIO_E_MSG_INVALID');
        assert.equal(await asked, 'XIO_E_MSG_INVALID');
      });

    test('is sent from server to server so often, and no more, by servers that do nothing else', async (net) => {
      const other = net.sim.host('other');
      const to = (host: typeof other) => (heard: Heard) =>
        heard.answer({ action: Action.REDIRECT, addresses: Array.from({ length: 64 }, () => net.urlOf(host)) });
      const links = [await lyingServer(net, to(other)), await lyingServer(net, to(net.server), other)];
      assert.equal(await codeOf(net.settled(net.connect())), 'XIO_E_SESSION_REDIRECTED');
      assert.equal(links.flat().length, 9);
    });

    test('and one that is sent nowhere says so', async (net) => {
      await lyingServer(net, (heard) =>
        heard.answer({ action: Action.REDIRECT, addresses: ['http://a:1', 'tcp://a:99999', ''] }),
      );
      const url = net.urlOf(net.server);
      assert.equal(await codeOf(net.settled(net.connect({ url, maxRedirects: 2 }))), 'XIO_E_SESSION_REDIRECTED');
    });

    test('is told by a server of its own that no client can send it on', async (net) => {
      await net.listen((session) => session.accept());
      const session = await net.connect();
      await net.until(() => net.served.length === 1);
      const [link] = net.watched.links;
      assert.throws(() => session.redirect([net.urlOf(net.client)]), { code: 'XIO_E_STATE' });
      link.abort();
      session.abort();
    });

    test('keeps what servers have sent that are gone, so much and no more', async (net) => {
      let lives = 0;
      const options = { keepAliveMs: 100, keepAliveIntervalMs: 50 };
      const serve = (): Promise<unknown> => {
        lives += 1;
        const life = lives;
        return net.listen((session) => {
          for (let i = 0; i < 10; i += 1) session.send(`${life}.${i}`).catch(() => undefined);
        });
      };
      await serve();
      const session = await net.connect({ ...options, queueMessages: 4 });
      for (let i = 0; i < 8 && session.state !== 'closed'; i += 1) {
        await net.until(() => session.statistics.messagesReceived === 4 * lives);
        net.crash(net.server);
        net.server.restart();
        await serve();
        await net.until(() => session.state === 'closed' || session.statistics.messagesReceived > 4 * (lives - 1));
      }
      assert.equal(session.failure?.code, 'XIO_E_NO_USER_BUFS');
      assert.equal(lives, 3);
      // What has come can be read all the same.
      const read: string[] = [];
      await assert.rejects(
        async () => {
          for await (const { body } of session.messages()) read.push(new TextDecoder().decode(body));
        },
        { code: 'XIO_E_NO_USER_BUFS' },
      );
      assert.deepEqual(read, ['1.0', '1.1', '1.2', '1.3', '2.0', '2.1', '2.2', '2.3']);
    });

    test('that reads goes on with as many servers as there are', async (net) => {
      let lives = 0;
      const serve = (): Promise<unknown> => {
        lives += 1;
        return net.listen((session) => {
          for (let i = 0; i < 4; i += 1) session.send('x').catch(() => undefined);
        });
      };
      await serve();
      const session = await net.connect({ keepAliveMs: 100, keepAliveIntervalMs: 50, queueMessages: 4 });
      let read = 0;
      const reading = codeOf(
        (async () => {
          for await (const { body } of session.messages()) read += body.length;
        })(),
      );
      while (lives < 6) {
        await net.until(() => read === 4 * lives);
        net.crash(net.server);
        net.server.restart();
        await serve();
      }
      await net.until(() => read === 24);
      session.abort();
      await reading;
    });
  });
}
