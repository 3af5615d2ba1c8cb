import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../../entry/sim.js';
import type { UcpEndpoint } from '../../worker/endpoint.js';
import type { UcpWorkerOptions } from '../../worker/worker-options.js';
import { StreamQueue, type StreamWanted } from '../../stream/stream-queue.js';
import { KeptBytes } from '../../worker/kept-bytes.js';
import { UcsStatus } from '../../wire/index.js';
import { pattern, until } from '../support/transports.js';
import { ALL_WAYS, type AnyWorkers, connected } from '../support/workers.js';

const LENGTHS = [1, 246, 247, 248, 4151, 4152, 8184, 8185, 50_000];
const ALL = { waitAll: true };

/** All that comes of so many bytes. */
async function received(endpoint: UcpEndpoint, length: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(length);
  let at = 0;
  while (at < length) at += await endpoint.streamReceive(buffer.subarray(at));
  return buffer;
}

for (const [name, made] of Object.entries(ALL_WAYS))
  describe(`a stream by ${name}`, () => {
    const test = (
      what: string,
      body: (workers: AnyWorkers, sim: Sim) => Promise<void>,
      options?: UcpWorkerOptions,
    ): void => {
      it(what, () =>
        simulate(async (sim) => {
          const workers = await made(sim, options);
          await body(workers, sim);
          await workers.close();
          assert.equal(workers.server.streamBytes, 0);
        }),
      );
    };

    for (const isExpected of [true, false])
      test(`brings bytes of all lengths on both sides of every threshold, ${isExpected ? 'expected' : 'unexpected'}`, async ({
        there,
        back,
        server,
      }, sim) => {
        for (const [i, length] of LENGTHS.entries()) {
          const buffer = new Uint8Array(length);
          const receiving = isExpected ? back.streamReceive(buffer, ALL) : undefined;
          await there.streamSend(pattern(length, i));
          if (!isExpected) await until(sim, () => server.streamBytes >= length);
          assert.equal(await (receiving ?? back.streamReceive(buffer, ALL)), length);
          assert.deepEqual(buffer, pattern(length, i));
        }
      });

    test('knows no borders of messages, and keeps the order of all bytes', async ({ there, back }) => {
      const whole = pattern(100_000, 3);
      const sends: Promise<void>[] = [];
      for (let at = 0, step = 1; at < whole.length; at += step, step = (step * 7) % 9973)
        sends.push(there.streamSend(whole.subarray(at, at + step)));
      const got = await received(back, whole.length);
      await Promise.all(sends);
      assert.ok(Buffer.from(got).equals(whole.subarray(0, got.length)));
    });

    test('gives whole elements only, and keeps the rest for the next', async ({ there, back, server }, sim) => {
      await there.streamSend(pattern(10));
      await until(sim, () => server.streamBytes >= 10);
      const buffer = new Uint8Array(100);
      assert.equal(await back.streamReceive(buffer, { elementBytes: 4 }), 8);
      assert.deepEqual(buffer.subarray(0, 8), pattern(10).subarray(0, 8));
      const receiving = back.streamReceive(buffer, { elementBytes: 4 });
      await there.streamSend(Uint8Array.of(1, 2, 3));
      assert.equal(await receiving, 4);
      assert.deepEqual(buffer.subarray(0, 4), Uint8Array.of(...pattern(10).subarray(8), 1, 2));
      assert.equal(await back.streamReceive(buffer), 1);
      assert.equal(buffer[0], 3);
    });

    test('fills buffers that want all, but for a part of an element at their end', async ({ there, back }) => {
      const buffer = new Uint8Array(11);
      const receiving = back.streamReceive(buffer, { elementBytes: 4, ...ALL });
      await there.streamSend(pattern(3));
      await there.streamSend(pattern(9, 1));
      assert.equal(await receiving, 8);
      assert.deepEqual(buffer, Uint8Array.of(...pattern(3), ...pattern(5, 1), 0, 0, 0));
      assert.deepEqual(await received(back, 4), pattern(9, 1).subarray(5));
    });

    test('serves those who receive in the order in which they asked', async ({ there, back }) => {
      const buffers = [5, 7, 3].map((length) => new Uint8Array(length));
      const receives = buffers.map((buffer) => back.streamReceive(buffer, ALL));
      await there.streamSend(pattern(15));
      assert.deepEqual(await Promise.all(receives), [5, 7, 3]);
      assert.deepEqual(Uint8Array.of(...buffers[0], ...buffers[1], ...buffers[2]), pattern(15));
    });

    test('touches no buffer once its receive was given up, and loses nothing by that', async ({
      there,
      back,
      server,
    }, sim) => {
      const abort = new AbortController();
      const given = new Uint8Array(100);
      const giving = back.streamReceive(given, { ...ALL, signal: abort.signal });
      const late = back.streamReceive(new Uint8Array(100), { ...ALL, timeoutMs: 5 });
      await there.streamSend(pattern(60, 1));
      await until(sim, () => given[59] === pattern(60, 1)[59]);
      abort.abort(new Error('no more'));
      await assert.rejects(giving, /no more/);
      const seen = given.slice();
      await assert.rejects(late, { errno: 'ETIMEDOUT' });
      assert.ok(server.streamBytes >= 60);
      await there.streamSend(pattern(60, 2));
      assert.deepEqual(await received(back, 120), Uint8Array.of(...pattern(60, 1), ...pattern(60, 2)));
      assert.deepEqual(given, seen);
    });

    test('brings data that was given up as a whole, or not at all', async ({ there, back }) => {
      const abort = new AbortController();
      const datas = Array.from({ length: 40 }, (_, i) => new Uint8Array(20_000).fill(i + 1));
      const sends = Promise.allSettled(datas.map((data) => there.streamSend(data, { signal: abort.signal })));
      abort.abort(new Error('no more'));
      for (const data of datas) data.fill(0xee);
      await sends;
      const last = there.streamSend(new Uint8Array(1));
      for (;;) {
        const [value] = await received(back, 1);
        if (value === 0) break;
        assert.deepEqual(await received(back, 19_999), new Uint8Array(19_999).fill(value));
      }
      await last;
    });

    test('takes and gives nothing for no bytes', async ({ there, back }) => {
      await there.streamSend(new Uint8Array(0));
      assert.equal(await back.streamReceive(new Uint8Array(0)), 0);
    });

    test('refuses what makes no sense', async ({ there, back }) => {
      for (const elementBytes of [0, -1, 0.5, 9])
        await assert.rejects(back.streamReceive(new Uint8Array(8), { elementBytes }), { errno: 'EINVAL' });
      // @ts-expect-error what JavaScript allows
      await assert.rejects(back.streamReceive(8), { errno: 'EINVAL' });
      // @ts-expect-error what JavaScript allows
      await assert.rejects(back.streamReceive(new Uint8Array(8), { waitAll: 1 }), { errno: 'EINVAL' });
      // @ts-expect-error what JavaScript allows
      await assert.rejects(there.streamSend('text'), { errno: 'EINVAL' });
      const signal = AbortSignal.abort(new Error('never'));
      await assert.rejects(there.streamSend(new Uint8Array(8), { signal }), /never/);
      await assert.rejects(back.streamReceive(new Uint8Array(8), { signal }), /never/);
    });
  });

describe('a stream', () => {
  it('whose bytes nobody receives costs the peer its endpoint once there are too many, also of small parts', async () => {
    for (const length of [1, 1000])
      await simulate(async (sim) => {
        const { server, there, back, close } = await connected(sim, { streamBytes: 20_000 });
        for (let i = 0; i < 1000; i += 1) void there.streamSend(pattern(length)).catch(() => undefined);
        await until(sim, () => back.failure !== undefined && there.failure !== undefined);
        assert.equal(back.failure?.status, UcsStatus.UCS_ERR_EXCEEDS_LIMIT);
        assert.equal(server.streamBytes, 0);
        // What came before can be read.
        assert.equal(await back.streamReceive(new Uint8Array(1)), 1);
        close();
      });
  });

  it('can be read to its end when the peer has gone, and then says why there is no more', () =>
    simulate(async (sim) => {
      const { there, back, close } = await connected(sim);
      await there.streamSend(pattern(100));
      await there.flush();
      const waiting = back.streamReceive(new Uint8Array(101), ALL);
      there.close();
      await assert.rejects(waiting, { status: UcsStatus.UCS_ERR_CONNECTION_RESET });
      await assert.rejects(back.streamReceive(new Uint8Array(101), ALL), {
        status: UcsStatus.UCS_ERR_CONNECTION_RESET,
      });
      assert.deepEqual(await received(back, 100), pattern(100));
      await assert.rejects(back.streamReceive(new Uint8Array(1)), { status: UcsStatus.UCS_ERR_CONNECTION_RESET });
      await assert.rejects(there.streamSend(pattern(1)), { status: UcsStatus.UCS_ERR_CANCELED });
      close();
    }));

  it('counts nothing once all was taken, given back or ended, however it comes', () => {
    const kept = new KeptBytes(10_000, 'a test');
    const queue = new StreamQueue(kept);
    const got: number[] = [];
    const want = (length: number, isAll: boolean): StreamWanted => {
      const onFilled = (bytes: number): void => void got.push(bytes);
      const buffer = new Uint8Array(length);
      return { buffer, wantedBytes: length, elementBytes: 1, isAll, filledBytes: 0, onFilled };
    };
    const first = want(100, true);
    queue.want(first);
    queue.want(want(5, false));
    assert.equal(queue.push(pattern(30)), undefined);
    queue.leave(first);
    queue.leave(first);
    assert.deepEqual(got, [5]);
    queue.want(want(25, true));
    assert.deepEqual([got, kept.used], [[5, 25], 0]);
    assert.equal(queue.push(pattern(9000)), undefined);
    assert.equal(queue.push(pattern(2000))?.status, UcsStatus.UCS_ERR_EXCEEDS_LIMIT);
    assert.deepEqual(queue.end(), []);
    assert.equal(kept.used, 0);
    queue.want(want(9000, true));
    assert.deepEqual([got.at(-1), kept.used], [9000, 0]);
  });
});
