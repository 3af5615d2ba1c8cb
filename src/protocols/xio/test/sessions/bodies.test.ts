import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { XioConnectOptions, XioListenOptions } from '../../../../entry/xio.js';
import { type Net, NETS } from '../support/nets.js';
import { pattern } from '../support/worlds.js';

const KIB = 1024;
const MIB = KIB * KIB;
const LENGTHS = [0, 1, 8191, 8192, 8193, MIB];
const HEADER = pattern(16, 9);

for (const [name, play] of Object.entries(NETS)) {
  const test = (what: string, scene: (net: Net) => Promise<void>): void => void it(what, () => play(scene));

  describe(`bodies of requests and messages over ${name}`, () => {
    test('of every length come both ways', async (net) => {
      await net.listen((session) => session.on('request', ({ header, body }) => ({ header, body })));
      const session = await net.connect();
      for (const length of LENGTHS) {
        using response = await session.request(HEADER, pattern(length, length));
        assert.deepEqual(response.header, HEADER);
        assert.deepEqual(response.body, pattern(length, length));
      }
    });

    test('of every length come back into the memory that was named for them', async (net) => {
      await net.listen((session) => session.on('request', ({ body }) => ({ body })));
      const session = await net.connect();
      for (const length of LENGTHS) {
        const into = new Uint8Array(length + 100).fill(0xee);
        const { body } = await session.request(HEADER, pattern(length, length), { into });
        assert.equal(body.buffer, into.buffer);
        assert.deepEqual(body, pattern(length, length));
        assert.ok(into.subarray(length).every((byte) => byte === 0xee));
      }
    });

    test('lie in memory that serves the next request once they are answered, and not before', async (net) => {
      const buffers: ArrayBufferLike[] = [];
      const answers: (() => void)[] = [];
      await net.listen((session) =>
        session.on('request', ({ body }) => {
          buffers.push(body.buffer);
          return new Promise((resolve) => answers.push(() => resolve({ body })));
        }),
      );
      const session = await net.connect();
      const ask = async (number: number): Promise<void> => {
        const { body } = await session.request(HEADER, pattern(20_000, number));
        assert.deepEqual(body, pattern(20_000, number));
      };
      const both = [ask(1), ask(2)];
      await net.until(() => answers.length === 2);
      for (const answer of answers.splice(0)) answer();
      await Promise.all(both);
      const next = ask(3);
      await net.until(() => answers.length === 1);
      answers[0]();
      await next;
      assert.notEqual(buffers[0], buffers[1]);
      assert.ok(buffers.slice(0, 2).includes(buffers[2]));
    });

    test('lie in memory that serves the next message once they are let go of', async (net) => {
      const buffers: ArrayBufferLike[] = [];
      await net.listen((session) => {
        void (async () => {
          for await (const { body } of session.messages()) buffers.push(body.buffer);
        })();
      });
      const session = await net.connect();
      for (let i = 0; i < 3; i += 1) await session.send(pattern(20_000, i), { receipt: true });
      assert.equal(new Set(buffers).size, 1);
    });

    test('of every length land where the receiver says', async (net) => {
      const asked: number[] = [];
      const given: Uint8Array[] = [];
      const onBody = (bodyBytes: number, header: Uint8Array): Uint8Array => {
        assert.deepEqual(header, HEADER);
        asked.push(bodyBytes);
        given.push(new Uint8Array(bodyBytes));
        return given[given.length - 1];
      };
      const got: Uint8Array[] = [];
      await net.listen(
        (session) =>
          session.on('request', ({ body }) => {
            if (body.length > 8192) assert.equal(body, given[given.length - 1]);
            got.push(Uint8Array.from(body));
            return {};
          }),
        { onBody },
      );
      const session = await net.connect();
      for (const length of LENGTHS) await session.request(HEADER, pattern(length, length));
      assert.deepEqual(
        got,
        LENGTHS.map((length) => pattern(length, length)),
      );
      assert.deepEqual(asked, [8193, MIB]);
    });

    const placements: Readonly<Record<string, [Partial<XioConnectOptions>, XioListenOptions]>> = {
      'along from the client': [{ inlineBytes: 8192 }, { inlineBytes: 0 }],
      'along from the server': [{ inlineBytes: 0 }, { inlineBytes: 8192 }],
      'along from nobody': [{ inlineBytes: 0 }, { inlineBytes: 0 }],
      'along up to 100 bytes': [{ inlineBytes: 100 }, { inlineBytes: 100 }],
    };
    for (const [how, [here, there]] of Object.entries(placements))
      for (const into of [undefined, new Uint8Array(MIB)])
        test(`go ${how}${into === undefined ? '' : ', the answer into memory that was named'}`, async (net) => {
          await net.listen((session) => session.on('request', ({ body }) => ({ body })), there);
          const session = await net.connect(here);
          for (const length of [0, 1, 100, 101, 8193]) {
            const { body } = await session.request(HEADER, pattern(length, length), { into });
            assert.deepEqual(body, pattern(length, length));
          }
        });

    test('of messages come in their order, and have receipts when they are let go of', async (net) => {
      const got: Uint8Array[] = [];
      await net.listen((session) => {
        const take = async (): Promise<void> => {
          for await (const { body } of session.messages()) got.push(Uint8Array.from(body));
        };
        void take();
      });
      const session = await net.connect();
      const sent = LENGTHS.map((length) => session.send({ header: HEADER, body: pattern(length, length) }));
      await session.send(pattern(10, 1), { receipt: true });
      await Promise.all(sent);
      assert.deepEqual(got, [...LENGTHS.map((length) => pattern(length, length)), pattern(10, 1)]);
    });

    test('go from the server as well', async (net) => {
      await net.listen((session) => session.accept());
      const session = await net.connect();
      session.on('request', ({ body }) => ({ body }));
      await net.until(() => net.served.length === 1);
      for (const length of LENGTHS) {
        const { body } = await net.served[0].request(HEADER, pattern(length, length));
        assert.deepEqual(body, pattern(length, length));
      }
    });

    test('that are longer than the peer takes fail, and nothing else does', async (net) => {
      await net.listen((session) => session.on('request', ({ body }) => ({ body })), { maxBodyBytes: 10_000 });
      const session = await net.connect();
      await assert.rejects(session.request(HEADER, new Uint8Array(10_001)), { code: 'XIO_E_MSG_SIZE' });
      await assert.rejects(session.send(new Uint8Array(10_001)), { code: 'XIO_E_MSG_SIZE' });
      await assert.rejects(session.request(new Uint8Array(257)), { code: 'XIO_E_MSG_SIZE' });
      assert.equal((await session.request(HEADER, new Uint8Array(10_000))).body.length, 10_000);
    });

    test('of answers that are longer than the requester takes fail, and nothing else does', async (net) => {
      await net.listen((session) => session.on('request', () => ({ body: new Uint8Array(10_000) })));
      const session = await net.connect();
      for (const options of [{ into: new Uint8Array(9999) }, { maxResponseBytes: 9999 }])
        await assert.rejects(session.request(HEADER, HEADER, options), { name: 'XioError' });
      assert.equal((await session.request(HEADER, HEADER, { into: new Uint8Array(10_000) })).body.length, 10_000);
    });
  });
}
