import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XioStatusName } from '../../wire/index.js';
import { codeOf, echo, rejection, SCENES } from '../support/scenes.js';
import { pattern } from '../support/worlds.js';

for (const [name, play] of Object.entries(SCENES))
  describe(`programs with sessions by ${name}`, () => {
    it('may throw what has no text: the requester is told that it has failed', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        const thrown: unknown[] = [
          Object.setPrototypeOf({}, null),
          Symbol('s'),
          Object.assign(new Error('x'), { message: 5 }),
          Object.assign(new Error('x'), { message: Object.setPrototypeOf({}, null) as unknown }),
          undefined,
        ];
        void (async () => {
          for await (const session of server)
            session.on('request', ({ header, body }) => {
              const what = thrown[body[0]];
              // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- That is what is tried.
              if (header.length > 0) return Promise.reject(what);
              throw what;
            });
        })();
        const session = await connect(server.url);
        for (let i = 0; i < thrown.length; i += 1)
          for (const header of ['', 'later'])
            assert.equal(await codeOf(session.request(header, Uint8Array.of(i))), 'XIO_E_UNSUCCESSFUL');
      }));

    it('are refused a status that does not exist', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        const none = JSON.parse('"XIO_E_NONE"') as XioStatusName;
        void (async () => {
          for await (const session of server) session.on('request', (request) => request.fail('words', none));
        })();
        const session = await connect(server.url);
        assert.match(String(await rejection(session.request())), /code is 'XIO_E_NONE'/);
      }));

    it('may change a header at once', () =>
      play(async ({ listen, connect }) => {
        const server = await listen({ queueMessages: 4 });
        echo(server);
        const session = await connect(server.url);
        const header = pattern(8);
        const asked = Array.from({ length: 10 }, () => session.request(header, 'x'));
        header.fill(0xff);
        for (const answer of await Promise.all(asked)) assert.deepEqual(answer.header, pattern(8));
      }));

    it('find short answers in their memory that come behind long ones which are fetched', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        echo(server);
        const session = await connect(server.url);
        const long = session.request('', pattern(100_000));
        const into = new Uint8Array(20_000);
        const short = session.request('', pattern(10, 1), { into });
        assert.deepEqual((await long).body, pattern(100_000));
        assert.deepEqual((await short).body, pattern(10, 1));
        assert.deepEqual(into.subarray(0, 10), pattern(10, 1));
      }));

    it('may give more memory for an answer than what they take: the answer is no longer than that', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        const room: number[] = [];
        void (async () => {
          for await (const session of server)
            session.on('request', ({ maxResponseBytes }) => {
              room.push(maxResponseBytes);
              return { body: pattern(30_000) };
            });
        })();
        const session = await connect(server.url, { maxBodyBytes: 20_000 });
        const asked = session.request('', '', { into: new Uint8Array(40_000), deadlineMs: 10_000 });
        assert.equal(await codeOf(asked), 'XIO_E_RSP_BUF_SIZE_MISMATCH');
        assert.deepEqual(room, [20_000]);
        assert.equal(session.statistics.reconnects, 0);
      }));
  });
