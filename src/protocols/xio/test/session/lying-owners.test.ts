import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XioSession } from '../../index.js';
import { ANY_CONNECTION, encodeGrantToken, encodeMapped, Kind, PLACE_BYTES, XioStatus } from '../../wire/index.js';
import { connected, type Liar } from '../support/liar.js';
import { type Scene, SCENES } from '../support/scenes.js';

const BOTH = { read: true, write: true };
const TOKEN = encodeGrantToken({
  id: new Uint8Array(16).fill(7),
  length: 100_000,
  access: BOTH,
  connection: ANY_CONNECTION,
});

/** A session of a server with a client that says what it likes. */
async function facing(scene: Scene): Promise<{ readonly session: XioSession; readonly liar: Liar }> {
  const server = await scene.listen({ reconnectMs: 0 });
  const sessions: XioSession[] = [];
  void (async () => {
    for await (const session of server) sessions.push(session.accept());
  })();
  const liar = await scene.inClient(() => connected(scene, server.url));
  liar.ask();
  await scene.until(() => liar.heard.some(({ kind }) => kind === Kind.SESSION_ANSWER));
  return { session: sessions[0], liar };
}

/** What becomes of a read whose owner answers so. */
async function readOf(scene: Scene, answer: (liar: Liar) => void, isWrite = false): Promise<[string, XioSession]> {
  const { session, liar } = await facing(scene);
  const memory = new Uint8Array(5000);
  const access = isWrite ? session.write(TOKEN, 0, memory) : session.read(TOKEN, 0, memory);
  const code = access.then(
    () => 'done',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
  );
  let isSettled = false;
  void code.then(() => (isSettled = true));
  await scene.until(() => liar.heard.some(({ kind }) => kind === Kind.REQUEST));
  answer(liar);
  await scene.until(() => isSettled);
  return [await code, session];
}

const response = { kind: Kind.RESPONSE, sn: 1, about: 1 } as const;

for (const [name, play] of Object.entries(SCENES))
  describe(`an owner of memory that lies, by ${name}`, () => {
    const statuses = [
      ['that there is none', XioStatus.XIO_E_USER_OBJ_NOT_FOUND, 'XIO_E_USER_OBJ_NOT_FOUND'],
      ['that it is late', XioStatus.XIO_E_TIMEOUT, 'XIO_E_TIMEOUT'],
    ] as const;
    for (const [what, status, code] of statuses)
      it(`is believed when it says ${what}, and its session goes on`, () =>
        play(async (scene) => {
          const [told, session] = await readOf(scene, (liar) => liar.say({ ...response, status }));
          assert.deepEqual([told, session.state], [code, 'connected']);
        }));

    it('is of no use when its answer is short, and its session goes on', () =>
      play(async (scene) => {
        const [told, session] = await readOf(scene, (liar) => liar.say(response, new Uint8Array(0), new Uint8Array(0)));
        const code = name === 'tcp' ? 'XIO_E_READ_FAILED' : 'XIO_E_USER_OBJ_NOT_FOUND';
        assert.deepEqual([told, session.state], [code, 'connected']);
      }));

    it('ends its session when its answer is too long', () =>
      play(async (scene) => {
        const [told, session] = await readOf(scene, (liar) => liar.say(response, new Uint8Array(65)));
        assert.deepEqual([told, session.failure?.code], ['XIO_E_MSG_INVALID', 'XIO_E_MSG_INVALID']);
      }));

    if (name !== 'rdma') return;

    for (const isWrite of [false, true])
      it(`loses its link when it names ${isWrite ? 'a place to write' : 'a place to read'} that it does not have`, () =>
        play(async (scene) => {
          const place = crypto.getRandomValues(new Uint8Array(PLACE_BYTES));
          const mapped = encodeMapped({ length: 2 ** 40, access: BOTH, place });
          const [told, session] = await readOf(scene, (liar) => liar.say(response, mapped), isWrite);
          assert.equal(told, 'XIO_E_SESSION_DISCONNECTED');
          assert.equal(session.state, 'closed');
        }));
  });
