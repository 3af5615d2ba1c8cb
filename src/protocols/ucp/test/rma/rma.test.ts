import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../../entry/sim.js';
import { AmHandlers } from '../../uct/index.js';
import { EndpointParts } from '../../worker/endpoint-parts.js';
import { Memories, type MemMapOptions } from '../../rma/memories.js';
import { UcsStatus } from '../../wire/index.js';
import { RMA_WAYS, type RmaSide, type RmaSides } from '../support/rma.js';
import { pattern } from '../support/transports.js';

const NO_OPTIONS = {};
/** On both sides of what is short, of what is copied in one piece, of a segment of each transport, and of several. */
const LENGTHS = [1, 7, 235, 236, 255, 256, 257, 4138, 4139, 4140, 4160, 4161, 8172, 8173, 8192, 8193, 50_000, 300_001];

/** Memory of one side, and the other side's key to it. */
function mapped({ here, there }: RmaSides, length: number, options: MemMapOptions = {}) {
  const memory = there.memories.map(length, options);
  const rkey = here.rma.unpackRkey(memory.packRkey());
  return { memory, rkey, bytes: memory.bytes };
}

async function flushed({ rma }: RmaSide): Promise<void> {
  assert.equal(await rma.flush(), UcsStatus.UCS_OK);
}

/** Whether all is done before a call has returned, so that there is nothing to give up. */
const isDoneAtOnce = (name: string): boolean => name === 'self';

for (const [name, made] of Object.entries(RMA_WAYS))
  describe(`remote memory by ${name}`, () => {
    const test = (what: string, body: (sides: RmaSides, sim: Sim) => Promise<void>): void => {
      it(what, () =>
        simulate(async (sim) => {
          const sides = await made(sim);
          await body(sides, sim);
          await sides.close();
        }),
      );
    };

    test('puts bytes of all lengths on both sides of every threshold, which are there after a flush', async (sides) => {
      const { memory, rkey, bytes } = mapped(sides, 300_100);
      for (const [i, length] of LENGTHS.entries()) {
        bytes.fill(0);
        const data = pattern(length, i);
        await sides.here.rma.put(data, rkey.address + 9n, rkey, NO_OPTIONS);
        // The buffer is the program's again.
        data.fill(0xee);
        await flushed(sides.here);
        assert.deepEqual(bytes.subarray(9, 9 + length), pattern(length, i));
        assert.ok(bytes.subarray(0, 9).every((byte) => byte === 0));
        assert.equal(bytes[9 + length], 0);
      }
      memory.unmap();
    });

    test('gets bytes of all lengths on both sides of every threshold', async (sides) => {
      const { memory, rkey, bytes } = mapped(sides, 300_100);
      bytes.set(pattern(bytes.length));
      for (const length of LENGTHS) {
        const buffer = new Uint8Array(length + 2).fill(0xee);
        await sides.here.rma.get(buffer.subarray(1, 1 + length), rkey.address + 11n, rkey, NO_OPTIONS);
        assert.deepEqual(buffer.subarray(1, 1 + length), bytes.subarray(11, 11 + length));
        assert.deepEqual([buffer[0], buffer[1 + length]], [0xee, 0xee]);
      }
      memory.unmap();
    });

    test('does nothing for no bytes, also at the end of the memory', async (sides) => {
      const { memory, rkey } = mapped(sides, 8);
      await sides.here.rma.put(new Uint8Array(0), rkey.address + 8n, rkey, NO_OPTIONS);
      await sides.here.rma.get(new Uint8Array(0), rkey.address, rkey, NO_OPTIONS);
      memory.unmap();
    });

    test('does many at once, and flushes them all', async (sides) => {
      const { here } = sides;
      const { memory, rkey, bytes } = mapped(sides, 400 * 500);
      const puts = Array.from({ length: 400 }, (_, i) =>
        here.rma.put(pattern(500, i), rkey.address + BigInt(500 * i), rkey, NO_OPTIONS),
      );
      await flushed(here);
      for (let i = 0; i < 400; i += 1) assert.deepEqual(bytes.subarray(500 * i, 500 * (i + 1)), pattern(500, i));
      await Promise.all(puts);
      const buffers = puts.map(() => new Uint8Array(500));
      await Promise.all(
        buffers.map((buffer, i) => here.rma.get(buffer, rkey.address + BigInt(500 * i), rkey, NO_OPTIONS)),
      );
      for (const [i, buffer] of buffers.entries()) assert.deepEqual(buffer, pattern(500, i));
      memory.unmap();
    });

    test('flushes at once where nothing is under way', async ({ here }) => flushed(here));

    test('begins nothing behind a fence before all is done that is before it', async (sides) => {
      const { here } = sides;
      const { memory, rkey, bytes } = mapped(sides, 200_000);
      for (let round = 0; round < 5; round += 1) {
        const putting = here.rma.put(pattern(200_000, round), rkey.address, rkey, NO_OPTIONS);
        here.memories.fence();
        const buffer = new Uint8Array(200_000);
        await here.rma.get(buffer, rkey.address, rkey, NO_OPTIONS);
        assert.deepEqual(buffer, pattern(200_000, round));
        await putting;
      }
      assert.deepEqual(bytes, pattern(200_000, 4));
      memory.unmap();
    });

    test('takes fences for nothing where nothing is under way', async (sides) => {
      const { here } = sides;
      const { memory, rkey, bytes } = mapped(sides, 8);
      here.memories.fence();
      here.memories.fence();
      await here.rma.put(pattern(8, 1), rkey.address, rkey, NO_OPTIONS);
      here.memories.fence();
      await flushed(here);
      assert.deepEqual(bytes, pattern(8, 1));
      memory.unmap();
    });

    test('refuses what is not within the memory of the key, or not its right, and goes on', async (sides) => {
      const { rma } = sides.here;
      const { memory, rkey } = mapped(sides, 64, { write: false, atomics: false });
      const eight = new Uint8Array(8);
      for (const [address, length] of [
        [rkey.address + 57n, 8],
        [rkey.address - 1n, 8],
        [rkey.address + 65n, 0],
        [0n, 8],
      ] as const)
        await assert.rejects(rma.get(new Uint8Array(length), address, rkey, NO_OPTIONS), { errno: 'EINVAL' });
      await assert.rejects(rma.put(eight, rkey.address, rkey, NO_OPTIONS), { errno: 'EACCES' });
      await assert.rejects(rma.atomic('add', 1n, rkey.address, rkey, NO_OPTIONS, true), { errno: 'EACCES' });
      await rma.get(eight, rkey.address + 56n, rkey, NO_OPTIONS);
      memory.unmap();
    });

    test('refuses keys that are none, and those of others', async (sides) => {
      const { here } = sides;
      const { memory } = mapped(sides, 64);
      const packed = memory.packRkey();
      for (const bytes of [packed.subarray(1), new Uint8Array(packed.length), new Uint8Array(0)])
        assert.throws(() => here.rma.unpackRkey(bytes), { errno: 'EINVAL', message: /these bytes are no key/ });
      const other = new EndpointParts(here.parts.worker, new AmHandlers(), () => undefined);
      const rkey = new Memories(here.end.domain).attach(other).unpackRkey(packed);
      assert.equal(rkey.length, 64);
      // @ts-expect-error what JavaScript allows
      await assert.rejects(here.rma.get(new Uint8Array(1), 5, rkey, NO_OPTIONS), { errno: 'EINVAL' });
      await assert.rejects(here.rma.get(new Uint8Array(1), rkey.address, rkey, NO_OPTIONS), { errno: 'EINVAL' });
      memory.unmap();
    });

    for (const length of isDoneAtOnce(name) ? [] : [8, 4000, 30_000]) {
      test(`reads a buffer of ${length} bytes no more once its put was aborted`, async (sides) => {
        const { here } = sides;
        const { memory, rkey, bytes } = mapped(sides, length);
        const [zeros, data] = [new Uint8Array(length), pattern(length, 1)];
        const abort = new AbortController();
        // Others are before it, so that it is not at its end.
        const before = Array.from({ length: 100 }, () => here.rma.put(zeros, rkey.address, rkey, NO_OPTIONS));
        const putting = here.rma.put(data, rkey.address, rkey, { signal: abort.signal });
        abort.abort(new Error('no more'));
        data.fill(0xee);
        await assert.rejects(putting, /no more/);
        await Promise.all(before);
        await flushed(here);
        const was = pattern(length, 1);
        assert.ok(bytes.every((byte, i) => byte === 0 || byte === was[i]));
        memory.unmap();
      });

      test(`writes to a buffer of ${length} bytes no more once its get was aborted`, async (sides, sim) => {
        const { here } = sides;
        const { memory, rkey, bytes } = mapped(sides, length);
        bytes.set(pattern(length, 1));
        const abort = new AbortController();
        const buffers = Array.from({ length: 100 }, () => new Uint8Array(length));
        const getting = buffers.map((buffer) => here.rma.get(buffer, rkey.address, rkey, { signal: abort.signal }));
        const ended = Promise.allSettled(getting);
        if (!name.startsWith('self')) await sim.sleep(0.05);
        abort.abort();
        const seen = buffers.map((buffer) => buffer.slice());
        const settled = await ended;
        await flushed(here);
        assert.deepEqual(buffers, seen);
        for (const [i, { status }] of settled.entries())
          if (status === 'fulfilled') assert.deepEqual(buffers[i], bytes);
        assert.ok(settled.some(({ status }) => status === 'rejected'));
        memory.unmap();
      });
    }

    test('begins nothing for a signal that was aborted before', async (sides) => {
      const { memory, rkey } = mapped(sides, 8);
      const signal = AbortSignal.abort(new Error('never'));
      await assert.rejects(sides.here.rma.put(pattern(8, 1), rkey.address, rkey, { signal }), /never/);
      await assert.rejects(sides.here.rma.get(new Uint8Array(8), rkey.address, rkey, { signal }), /never/);
      assert.deepEqual(memory.bytes, new Uint8Array(8));
      memory.unmap();
    });

    test('ends all that is under way when the endpoint is closed, and all that comes after', async (sides) => {
      const { here } = sides;
      const { memory, rkey } = mapped(sides, 100_000);
      const buffers = Array.from({ length: 50 }, () => new Uint8Array(100_000));
      const all = buffers.map((buffer) => here.rma.get(buffer, rkey.address, rkey, NO_OPTIONS));
      here.memories.fence();
      all.push(here.rma.get(new Uint8Array(8), rkey.address, rkey, NO_OPTIONS));
      const ended = Promise.allSettled(all);
      const flushing = here.rma.flush();
      here.parts.close();
      const settled = await ended;
      for (const one of settled)
        if (one.status === 'rejected') assert.equal(statusOf(one.reason), UcsStatus.UCS_ERR_CANCELED);
      if (!isDoneAtOnce(name)) assert.equal(settled.at(-1)?.status, 'rejected');
      assert.equal(await flushing, isDoneAtOnce(name) ? UcsStatus.UCS_OK : UcsStatus.UCS_ERR_CANCELED);
      for (const nothing of [0, 8])
        await assert.rejects(here.rma.put(new Uint8Array(nothing), rkey.address, rkey, NO_OPTIONS), {
          status: UcsStatus.UCS_ERR_CANCELED,
        });
      memory.unmap();
    });
  });

function statusOf(error: unknown): unknown {
  return error instanceof Error && 'status' in error ? error.status : error;
}
