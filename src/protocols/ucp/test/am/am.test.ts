import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../../entry/sim.js';
import { Callbacks, ownTurn } from '../../../../api/runtime/index.js';
import { AmMessage } from '../../am/am-message.js';
import { Ams } from '../../am/ams.js';
import type { UcpEndpoint } from '../../worker/endpoint.js';
import type { UcpWorkerOptions } from '../../worker/worker-options.js';
import { UcsStatus } from '../../wire/index.js';
import { pattern, until } from '../support/transports.js';
import { ALL_WAYS, type AnyWorkers, connected, type Workers } from '../support/workers.js';

type Message = AmMessage<UcpEndpoint>;

const NONE = new Uint8Array(0);
const PROTOCOLS = ['eager', 'rendezvous'] as const;
/** On both sides of what is short, of what is packed in one piece, of several pieces, and of the usual rendezvous. */
const LENGTHS = [
  0, 1, 231, 232, 239, 240, 4100, 4127, 4128, 4143, 4144, 4151, 4152, 8191, 8192, 8193, 32_767, 32_768, 50_000,
];

/** So that some are still here when they are given up. */
const FEW_UNDER_WAY: UcpWorkerOptions = { window: 8 };

/** Takes messages to an id, and keeps them all. */
function keeping({ server }: Pick<Workers, 'server'>, id: number): Message[] {
  const got: Message[] = [];
  server.setAmHandler(id, (message) => got.push(message.keep()));
  return got;
}

async function bytesOf(message: Message): Promise<Uint8Array> {
  const buffer = new Uint8Array(message.length);
  assert.equal(await message.receive(buffer), buffer.length);
  return buffer;
}

for (const [name, made] of Object.entries(ALL_WAYS))
  describe(`active messages by ${name}`, () => {
    const test = (
      what: string,
      body: (workers: AnyWorkers, sim: Sim) => Promise<void>,
      options?: UcpWorkerOptions,
    ): void => {
      it(what, () =>
        simulate(async (sim) => {
          const workers = await made(sim, options);
          await body(workers, sim);
          assert.equal(workers.server.amBytes, 0);
          await workers.close();
        }),
      );
    };

    for (const protocol of [undefined, ...PROTOCOLS])
      for (const reply of [false, true])
        test(`bring data of all lengths, ${protocol ?? 'as it goes'}, ${reply ? 'to be answered' : 'not to be answered'}`, async (workers, sim) => {
          const { there } = workers;
          const got = keeping(workers, 7);
          const header = pattern(13, 5);
          for (const [i, length] of LENGTHS.entries()) {
            const sending = there.amSend(7, header, pattern(length, i), { protocol, reply });
            await until(sim, () => got.length === 1);
            const [message] = got.splice(0);
            assert.deepEqual([message.id, message.length, message.header], [7, length, header]);
            if (protocol !== undefined) assert.equal(message.isRendezvous, protocol === 'rendezvous');
            assert.equal(message.replyEndpoint !== undefined, reply);
            assert.deepEqual(await bytesOf(message), pattern(length, i));
            await sending;
          }
        });

    for (const protocol of PROTOCOLS)
      test(`bring headers up to the longest, and refuse longer ones, ${protocol}`, async (workers, sim) => {
        const { there } = workers;
        const got = keeping(workers, 1);
        const most = there.maxAmHeader;
        for (const header of [0, 1, 200, most - 1, most])
          for (const length of [0, 1, 300, 9000]) {
            const sending = there.amSend(1, pattern(header, 1), pattern(length, 2), { protocol });
            await until(sim, () => got.length === 1);
            const [message] = got.splice(0);
            assert.deepEqual(message.header, pattern(header, 1));
            assert.deepEqual(await bytesOf(message), pattern(length, 2));
            await sending;
          }
        await assert.rejects(there.amSend(1, pattern(most + 1), NONE, { protocol }), {
          errno: 'EINVAL',
          message: new RegExp(`the header has ${most + 1} bytes`),
        });
      });

    test('are handled in the order in which they were sent, whatever way they go', async (workers, sim) => {
      const { there } = workers;
      const got = keeping(workers, 1);
      const lengths = Array.from({ length: 60 }, (_, i) => [10 + i, 300 + i, 5000 + i, 40_000 + i][i % 4]);
      const sends = lengths.map((length, i) => there.amSend(1, Uint8Array.of(i), pattern(length, i)));
      await until(sim, () => got.length === lengths.length);
      for (const [i, message] of got.entries()) {
        assert.deepEqual([message.header[0], message.length], [i, lengths[i]]);
        assert.deepEqual(await bytesOf(message), pattern(lengths[i], i));
      }
      await Promise.all(sends);
    });

    test('are answered by the endpoint that they come with', async (workers, sim) => {
      const { server, client, there } = workers;
      const answers: number[] = [];
      client.setAmHandler(2, ({ data }) => answers.push(data[0]));
      server.setAmHandler(1, ({ data, replyEndpoint }) => {
        void replyEndpoint?.amSend(2, NONE, Uint8Array.of(data[0] + 1));
      });
      for (const value of [1, 5, 9]) await there.amSend(1, NONE, Uint8Array.of(value), { reply: true });
      await there.amSend(1, NONE, Uint8Array.of(7));
      await until(sim, () => answers.length === 3);
      assert.deepEqual(answers, [2, 6, 10]);
    });

    test('last until their handler returns, and longer where it keeps them', async (workers, sim) => {
      const { server, there } = workers;
      const got: Message[] = [];
      server.setAmHandler(1, (message) => {
        assert.deepEqual(message.data, pattern(100, 1));
        got.push(message);
      });
      const kept = keeping(workers, 2);
      for (const id of [1, 2, 1]) await there.amSend(id, Uint8Array.of(id), pattern(100, 1));
      await until(sim, () => got.length === 2);
      for (const message of got) {
        assert.throws(() => message.data, { errno: 'EINVAL', message: /lasts no more/ });
        assert.throws(() => message.keep(), { errno: 'EINVAL' });
        await assert.rejects(message.receive(new Uint8Array(100)), { errno: 'EINVAL' });
      }
      const [message] = kept;
      assert.deepEqual([message.data, message.header], [pattern(100, 1), Uint8Array.of(2)]);
      assert.ok(server.amBytes >= 101);
      message.release();
      message.release();
      assert.throws(() => message.header, { errno: 'EINVAL' });
    });

    test('that are announced say so, and are lost where the handler does not keep them, for which the sender need not wait', async (workers, sim) => {
      const { server, there } = workers;
      let count = 0;
      server.setAmHandler(1, (message) => {
        assert.equal(message.isRendezvous, true);
        assert.throws(() => message.data, { errno: 'EINVAL', message: /has not come/ });
        count += 1;
      });
      await there.amSend(1, NONE, pattern(50_000), { protocol: 'rendezvous' });
      await until(sim, () => count === 1);
    });

    test('that are announced and kept can be refused later', async (workers, sim) => {
      const { there } = workers;
      const got = keeping(workers, 1);
      const sending = there.amSend(1, NONE, pattern(50_000), { protocol: 'rendezvous' });
      await until(sim, () => got.length === 1);
      got[0].release();
      await sending;
    });

    for (const protocol of PROTOCOLS)
      test(`say how long they are to whose buffer is too short, and leave it alone, ${protocol}`, async (workers, sim) => {
        const { there } = workers;
        const got = keeping(workers, 1);
        const sending = there.amSend(1, NONE, pattern(20_000), { protocol });
        await until(sim, () => got.length === 1);
        const buffer = new Uint8Array(19_999);
        await assert.rejects(got[0].receive(buffer), {
          status: UcsStatus.UCS_ERR_MESSAGE_TRUNCATED,
          message: /the message has 20000 bytes, and the buffer 19999/,
        });
        assert.deepEqual(buffer, new Uint8Array(19_999));
        await assert.rejects(got[0].receive(new Uint8Array(20_000)), { errno: 'EINVAL' });
        await sending;
      });

    test('to ids that nobody handles are dropped and counted, and others still come', async (workers, sim) => {
      const { server, there } = workers;
      const got = keeping(workers, 1);
      server.setAmHandler(2, () => assert.fail('it was taken back'));
      server.setAmHandler(2, undefined);
      for (const protocol of PROTOCOLS)
        for (const length of [0, 10, 300, 40_000]) await there.amSend(2, NONE, pattern(length), { protocol });
      await there.amSend(1, NONE, NONE);
      await until(sim, () => got.length === 1);
      assert.equal(server.amsDropped, 8);
      got[0].release();
    });

    for (const protocol of PROTOCOLS)
      for (const length of [100, 4000, 100_000])
        test(
          `of ${length} bytes that are given up arrive as a whole or not at all, ${protocol}`,
          async (workers, sim) => {
            const { there } = workers;
            const got = keeping(workers, 1);
            const last = keeping(workers, 2);
            const abort = new AbortController();
            const datas = Array.from({ length: 50 }, (_, i) => pattern(length, i));
            const sends = datas.map((data, i) =>
              there.amSend(1, Uint8Array.of(i), data, { protocol, signal: abort.signal }),
            );
            const ended = Promise.allSettled(sends);
            abort.abort(new Error('no more'));
            for (const data of datas) data.fill(0xee);
            const settled = await ended;
            assert.ok(settled.some(({ status }) => status === 'rejected') || length < 4000 || name === 'self');
            await there.amSend(2, NONE, NONE, { protocol: 'eager' });
            await until(sim, () => last.length === 1);
            for (const message of got) {
              const [i] = message.header;
              const buffer = new Uint8Array(length);
              const outcome = await message.receive(buffer).catch((error: unknown) => error);
              if (outcome === length) assert.deepEqual(buffer, pattern(length, i));
              else assert.deepEqual([statusOf(outcome), buffer], [UcsStatus.UCS_ERR_CANCELED, new Uint8Array(length)]);
            }
            last[0].release();
          },
          FEW_UNDER_WAY,
        );

    test('that are being fetched can be given up, and their buffer is left alone', async (workers, sim) => {
      const { there } = workers;
      const got = keeping(workers, 1);
      const sending = there.amSend(1, NONE, pattern(200_000, 1), { protocol: 'rendezvous' });
      const sent = Promise.allSettled([sending]);
      await until(sim, () => got.length === 1);
      const abort = new AbortController();
      const buffer = new Uint8Array(200_000);
      const receiving = got[0].receive(buffer, { signal: abort.signal });
      abort.abort(new Error('no more'));
      const seen = buffer.slice();
      const outcome = await receiving.catch((error: unknown) => error);
      if (outcome === 200_000) assert.equal(name, 'self');
      else assert.match(String(outcome), /no more/);
      await sent;
      if (outcome !== 200_000) assert.deepEqual(buffer, seen);
    });

    test('are refused where they make no sense', async (workers) => {
      const { server, there } = workers;
      for (const id of [-1, 65_536, 0.5]) {
        await assert.rejects(there.amSend(id, NONE, NONE), { errno: 'EINVAL' });
        assert.throws(() => server.setAmHandler(id, undefined), { errno: 'EINVAL' });
      }
      // @ts-expect-error what JavaScript allows
      await assert.rejects(there.amSend(1, 'header', NONE), { errno: 'EINVAL' });
      // @ts-expect-error what JavaScript allows
      await assert.rejects(there.amSend(1, NONE, NONE, { protocol: 'short' }), { errno: 'EINVAL' });
      // @ts-expect-error what JavaScript allows
      assert.throws(() => server.setAmHandler(1, 'handler'), { errno: 'EINVAL' });
      await assert.rejects(there.amSend(1, NONE, NONE, { signal: AbortSignal.abort(new Error('never')) }), /never/);
      there.close();
      await assert.rejects(there.amSend(1, NONE, NONE), { status: UcsStatus.UCS_ERR_CANCELED });
    });
  });

function statusOf(error: unknown): unknown {
  return error instanceof Error && 'status' in error ? error.status : error;
}

describe('active messages', () => {
  it('whose handler throws are over, and the error is thrown where nobody is in the midst of anything', () => {
    const turns: (() => void)[] = [];
    const thresholds = { bcopy: Infinity, zcopy: Infinity, rndv: Infinity, rndvScheme: 'auto' } as const;
    const ams = new Ams<undefined>({ nextTurn: (action) => turns.push(action) }, 1000, thresholds);
    const { kept } = ams;
    kept.take(100);
    const message = new AmMessage<undefined>({
      id: 1,
      header: NONE,
      data: pattern(3),
      announced: undefined,
      isOwned: false,
      replyEndpoint: undefined,
      engine: { timer: () => () => undefined },
      kept,
      cost: 100,
    });
    ams.set(1, () => {
      throw new Error('a mistake of the program');
    });
    ownTurn(() => ams.hand(1, message, { isClosed: false, distrust: () => undefined }));
    assert.equal(kept.used, 0);
    assert.equal(turns.length, 1);
    assert.throws(turns[0], /a mistake of the program/);
  });

  it('that wait for their turn keep their bytes, and count when their turn comes', async () => {
    const thresholds = { bcopy: Infinity, zcopy: Infinity, rndv: Infinity, rndvScheme: 'auto' } as const;
    const ams = new Ams<undefined>({ nextTurn: () => undefined }, 250, thresholds);
    const { kept } = ams;
    const buffer = new Uint8Array(10);
    const got: number[][] = [];
    const problems: string[] = [];
    const source = { isClosed: false, distrust: ({ text }: { text: string }) => problems.push(text) };
    ams.set(1, (message) => got.push([...message.keep().header, ...message.data, kept.used]));
    for (let i = 1; i <= 3; i += 1) {
      buffer.fill(i);
      kept.take(100);
      const message = new AmMessage<undefined>({
        id: 1,
        header: buffer.subarray(0, 1),
        data: buffer.subarray(1, 3),
        announced: undefined,
        isOwned: false,
        replyEndpoint: undefined,
        engine: { timer: () => () => undefined },
        kept,
        cost: 100,
      });
      ams.hand(1, message, source);
      assert.equal(kept.used, 0);
    }
    buffer.fill(0);
    await new Promise<void>((resolve) => new Callbacks().call(resolve));
    assert.deepEqual(got, [
      [1, 1, 1, 100],
      [2, 2, 2, 200],
    ]);
    assert.match(problems.join(), /200 of 250 bytes for active messages are in use/);
  });

  const limits = { amBytes: 100_000 };
  for (const [what, send] of Object.entries({
    'short ones': (there: UcpEndpoint) => there.amSend(1, NONE, pattern(1)),
    'ones in parts': (there: UcpEndpoint) => there.amSend(1, NONE, pattern(30_000), { protocol: 'eager' }),
    'announced ones': (there: UcpEndpoint) => there.amSend(1, pattern(1000), pattern(9000), { protocol: 'rendezvous' }),
    'one that is too long': (there: UcpEndpoint) => there.amSend(1, NONE, pattern(100_001), { protocol: 'eager' }),
  }))
    it(`cost a peer its endpoint that sends more than is kept: ${what}`, () =>
      simulate(async (sim) => {
        const workers = await connected(sim, limits);
        const { server, there, back } = workers;
        const got = keeping(workers, 1);
        for (let i = 0; i < 500; i += 1) void send(there).catch(() => undefined);
        await until(sim, () => back.failure !== undefined && there.failure !== undefined);
        assert.equal(back.failure?.status, UcsStatus.UCS_ERR_EXCEEDS_LIMIT);
        assert.ok(server.amBytes <= 100_000);
        const own = server.connectToSelf();
        for (const message of got.splice(0)) message.release();
        assert.equal(server.amBytes, 0);
        await own.amSend(1, NONE, pattern(8, 1));
        await until(sim, () => got.length === 1);
        assert.deepEqual(got[0].data, pattern(8, 1));
        got[0].release();
        workers.close();
      }));

  it('that were announced by a peer that has gone cannot be fetched, and those that came can be read', () =>
    simulate(async (sim) => {
      const workers = await connected(sim);
      const { server, there, back } = workers;
      const got = keeping(workers, 1);
      const sends = [
        there.amSend(1, NONE, pattern(10_000, 1), { protocol: 'eager' }),
        there.amSend(1, NONE, pattern(10_000, 2), { protocol: 'rendezvous' }),
        there.amSend(1, NONE, pattern(10_000, 3), { protocol: 'rendezvous' }),
      ];
      const ended = Promise.allSettled(sends);
      await until(sim, () => got.length === 3);
      there.close();
      await until(sim, () => back.failure !== undefined);
      assert.deepEqual(
        (await ended).map(({ status }) => status),
        ['fulfilled', 'rejected', 'rejected'],
      );
      assert.deepEqual(await bytesOf(got[0]), pattern(10_000, 1));
      await assert.rejects(bytesOf(got[1]), { name: 'UcpError' });
      got[2].release();
      assert.equal(server.amBytes, 0);
      workers.close();
    }));

  it('that have come in part are forgotten when their sender has gone', () =>
    simulate(async (sim) => {
      const workers = await connected(sim, { window: 1 });
      const { server, there, back } = workers;
      server.setAmHandler(1, () => assert.fail('it is not whole'));
      const sending = assert.rejects(there.amSend(1, NONE, pattern(100_000), { protocol: 'eager' }));
      await until(sim, () => server.amBytes > 0);
      there.close();
      await sending;
      await until(sim, () => back.failure !== undefined);
      assert.equal(server.amBytes, 0);
      workers.close();
    }));
});
