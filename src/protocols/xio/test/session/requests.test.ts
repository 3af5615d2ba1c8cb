import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alloc } from '../../../../entry/index.js';
import { codeOf, echo, rejection, SCENES } from '../support/scenes.js';
import { pattern } from '../support/worlds.js';

const LENGTHS = [0, 1, 8191, 8192, 8193, 1 << 20];

for (const [name, play] of Object.entries(SCENES))
  describe(`requests by ${name}`, () => {
    for (const length of LENGTHS)
      it(`carry ${length} bytes each way, into memory that is named and into other`, () =>
        play(async ({ listen, connect }) => {
          const server = await listen();
          echo(server);
          const session = await connect(server.url);
          const body = pattern(length, 3);
          const { header, body: first } = await session.request('header', body);
          assert.equal(new TextDecoder().decode(header), 'header');
          assert.deepEqual(first, body);
          const into = alloc(length + 10);
          const second = await session.request('', body, { into });
          assert.deepEqual(second.body, body);
          assert.equal(second.body.buffer, into.buffer);
        }));

    it('go by RDMA or the stream whatever their length when nothing goes along with heads', () =>
      play(async ({ listen, connect }) => {
        const server = await listen({ inlineBytes: 0 });
        echo(server);
        const session = await connect(server.url, { inlineBytes: 0 });
        for (const length of [0, 1, 100]) {
          const { body } = await session.request('x', pattern(length), { into: new Uint8Array(length) });
          assert.deepEqual(body, pattern(length));
        }
      }));

    it('have their bodies where the server’s program names memory for them', () =>
      play(async ({ listen, connect }) => {
        const memory = alloc(20_000);
        const asked: number[] = [];
        const onBody = (bytes: number, header: Uint8Array): Uint8Array => {
          asked.push(bytes, header.length);
          return memory.subarray(0, bytes);
        };
        const server = await listen({ onBody });
        echo(server);
        const session = await connect(server.url);
        const { body } = await session.request('head', pattern(20_000, 5));
        assert.deepEqual(asked, [20_000, 4]);
        assert.deepEqual(memory.slice(), pattern(20_000, 5));
        assert.deepEqual(body, pattern(20_000, 5));
      }));

    it('go both ways, many at a time, and more than there is credit for', () =>
      play(async ({ listen, connect, until }) => {
        const server = await listen({ queueMessages: 4, queueBytes: 20_000, maxBodyBytes: 20_000 });
        const sessions = echo(server);
        const session = await connect(server.url, { queueMessages: 400 });
        session.on('request', ({ body }) => ({ body: body.slice(0, 1) }));
        const requests = Array.from({ length: 200 }, (_, i) =>
          session.request(String(i), pattern((i * 97) % 20_000, i)),
        );
        await until(() => sessions.length > 0);
        const backwards = Array.from({ length: 50 }, (_, i) => sessions[0].request('', pattern(i + 1, i)));
        const answers = await Promise.all(requests);
        answers.forEach(({ body }, i) => assert.deepEqual(body, pattern((i * 97) % 20_000, i)));
        const back = await Promise.all(backwards);
        back.forEach(({ body }, i) => assert.deepEqual(body, pattern(i + 1, i).slice(0, 1)));
      }));

    it('are refused at once when they are longer than the server takes, or too many wait', () =>
      play(async ({ listen, connect }) => {
        const server = await listen({ maxBodyBytes: 100, maxHeaderBytes: 10, queueMessages: 4 });
        void (async () => {
          for await (const session of server) session.on('request', () => undefined);
        })();
        const session = await connect(server.url, { queueMessages: 4 });
        assert.equal(await codeOf(session.request('', new Uint8Array(101))), 'XIO_E_MSG_SIZE');
        assert.equal(await codeOf(session.request('01234567890', '')), 'XIO_E_MSG_SIZE');
        // Four are under way, and four wait.
        const waiting = Array.from({ length: 8 }, () => rejection(session.request('', '')));
        assert.equal(await codeOf(session.request('', '')), 'XIO_E_TX_QUEUE_OVERFLOW');
        session.abort();
        for (const error of await Promise.all(waiting)) assert.match(String(error), /XIO_E_SESSION_CLOSED/);
      }));

    it('fail with what the server’s program throws, or says', () =>
      play(async ({ listen, connect }) => {
        const server = await listen();
        void (async () => {
          for await (const session of server)
            session.on('request', async (request) => {
              await Promise.resolve();
              if (request.body.length === 1) throw new Error('no such block');
              if (request.body.length === 2) request.fail('not now', 'XIO_E_NO_BUFS');
              else await request.reply('', new Uint8Array(3));
            });
        })();
        const session = await connect(server.url);
        assert.match(String(await rejection(session.request('', 'x'))), /no such block \(XIO_E_UNSUCCESSFUL\)/);
        assert.equal(await codeOf(session.request('', 'xx')), 'XIO_E_NO_BUFS');
        const tooLong = session.request('', 'xxx', { into: new Uint8Array(2) });
        assert.match(String(await rejection(tooLong)), /the body has 3 bytes/);
        assert.equal((await session.request('', 'xxx', { into: new Uint8Array(3) })).body.length, 3);
      }));
  });
