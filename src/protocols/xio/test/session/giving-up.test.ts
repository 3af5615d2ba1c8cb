import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type XioRequest, XioError } from '../../index.js';
import { rejection, SCENES } from '../support/scenes.js';
import { pattern } from '../support/worlds.js';

for (const [name, play] of Object.entries(SCENES))
  describe(`requests by ${name} that are given up`, () => {
    it('reject with the reason; the server’s program is asked to stop, and the session goes on', () =>
      play(async ({ listen, connect, until }) => {
        const server = await listen();
        const requests: XioRequest[] = [];
        void (async () => {
          for await (const session of server) session.on('request', (request) => void requests.push(request));
        })();
        const session = await connect(server.url);
        const controller = new AbortController();
        const into = new Uint8Array(50_000).fill(7);
        const waiting = rejection(session.request('', pattern(50_000), { signal: controller.signal, into }));
        await until(() => requests.length === 1);
        let isCancelled = false;
        requests[0].signal.addEventListener('abort', () => (isCancelled = true));
        controller.abort(new Error('enough'));
        assert.match(String(await waiting), /enough/);
        await until(() => isCancelled);
        await requests[0].reply('', pattern(50_000, 3));
        const next = session.request('', 'next');
        await until(() => requests.length === 2);
        await requests[1].reply('', 'answer');
        assert.equal((await next).body.length, 6);
        assert.ok(
          into.every((byte) => byte === 7),
          'memory that was taken back is written',
        );
      }));

    it('by their deadline say whether they may have run', () =>
      play(async ({ listen, connect }) => {
        const server = await listen({ queueMessages: 4 });
        void (async () => {
          for await (const session of server) session.on('request', () => undefined);
        })();
        const session = await connect(server.url);
        const all = Array.from({ length: 6 }, () => rejection(session.request('', '', { deadlineMs: 20 })));
        const errors = await Promise.all(all);
        assert.deepEqual(
          errors.map((error) => error instanceof XioError && [error.code, error.mayHaveRun]),
          [true, true, true, true, false, false].map((mayHaveRun) => ['XIO_E_TIMEOUT', mayHaveRun]),
        );
      }));

    it('before they are begun are never sent', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        const seen: number[] = [];
        void (async () => {
          for await (const session of server)
            session.on('request', ({ body }) => {
              seen.push(body.length);
              return {};
            });
        })();
        const session = await connect(server.url);
        const reason = new Error('before');
        assert.equal(await rejection(session.request('', 'x', { signal: AbortSignal.abort(reason) })), reason);
        await session.request('', 'yy');
        assert.deepEqual(seen, [2]);
      }));
  });
