import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XioServer, XioSession } from '../../index.js';
import { SCENES } from '../support/scenes.js';
import { pattern } from '../support/worlds.js';

async function firstOf(server: XioServer): Promise<XioSession> {
  const { value } = await server[Symbol.asyncIterator]().next();
  assert.ok(value !== undefined, 'a session comes');
  return value.accept();
}

for (const [name, play] of Object.entries(SCENES))
  describe(`messages by ${name}`, () => {
    it('come in their order, of any length', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        const [session, peer] = await Promise.all([connect(server.url), firstOf(server)]);
        const lengths = [0, 1, 8192, 8193, 100, 1 << 20, 5];
        const sent = Promise.all(
          lengths.map((length, i) => session.send({ header: String(i), body: pattern(length, i) })),
        );
        let next = 0;
        for await (const { header, body } of peer.messages()) {
          assert.equal(new TextDecoder().decode(header), String(next));
          assert.deepEqual(body, pattern(lengths[next], next));
          next += 1;
          if (next === lengths.length) break;
        }
        await sent;
      }));

    it('have a receipt once the receiver’s program has let go of them, not before', () =>
      play(async ({ listen, connect, until }) => {
        const server = await listen();
        const [session, peer] = await Promise.all([connect(server.url), firstOf(server)]);
        let isDone = false;
        const sent = session.send('x', { receipt: true }).then(() => (isDone = true));
        const { value } = await peer.messages().next();
        assert.ok(value !== undefined);
        // A round trip, in which nothing comes.
        peer.on('request', () => ({ body: 'pong' }));
        await session.request('', 'ping');
        assert.equal(isDone, false);
        value.release();
        await sent;
        await until(() => isDone);
      }));

    it('wait for a receiver that does not let go, who holds up nobody else', () =>
      play(async ({ listen, connect, until }) => {
        const server = await listen({ queueMessages: 4 });
        const [slow, atSlow] = await Promise.all([connect(server.url, { queueMessages: 100 }), firstOf(server)]);
        let sent = 0;
        const all = Promise.all(Array.from({ length: 20 }, (_, i) => slow.send(String(i)).then(() => (sent += 1))));
        await until(() => sent === 4);
        // Answers need no credit.
        slow.on('request', () => ({ body: 'free' }));
        assert.equal((await atSlow.request('', '')).body.length, 4);
        assert.equal(sent, 4);
        let taken = 0;
        for await (const message of atSlow.messages()) {
          assert.equal(new TextDecoder().decode(message.body), String(taken));
          taken += 1;
          if (taken === 20) break;
        }
        await all;
      }));

    it('that were not taken end with the session', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        const [session, peer] = await Promise.all([connect(server.url), firstOf(server)]);
        await session.send('one');
        await session.close();
        const taken: string[] = [];
        for await (const { body } of peer.messages()) taken.push(new TextDecoder().decode(body));
        assert.deepEqual(taken, ['one']);
      }));
  });
