import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sim, simulate } from '../../../../entry/sim.js';
import type { AtomicName } from '../../rma/rma-end.js';
import type { AtomicsBy } from '../../rma/rkey.js';
import { UcsStatus } from '../../wire/index.js';
import { RMA_WAYS, type RmaSides } from '../support/rma.js';

const [A, B] = [0b1100n, 0b1010n];
const AFTER: Readonly<Record<AtomicName, bigint>> = {
  add: A + B,
  and: A & B,
  or: A | B,
  xor: A ^ B,
  swap: B,
  compareSwap: B,
};
// The keys of an object of ours are those that its type names.
const NAMES = Object.keys(AFTER) as AtomicName[];
const HIGH = 0x7000_0000n << 32n;

function word(bytes: Uint8Array, width: 4 | 8): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return width === 4 ? BigInt(view.getUint32(8, true)) : view.getBigUint64(8, true);
}

function mapped({ here, there }: RmaSides, atomics: AtomicsBy = 'messages') {
  const memory = there.memories.map(32, { atomics });
  const rkey = here.rma.unpackRkey(memory.packRkey());
  return { memory, rkey, bytes: memory.bytes, at: rkey.address + 8n };
}

for (const [name, made] of Object.entries(RMA_WAYS))
  describe(`atomics by ${name}`, () => {
    const test = (what: string, body: (sides: RmaSides, sim: Sim) => Promise<void>): void => {
      it(what, () =>
        simulate(async (sim) => {
          const sides = await made(sim);
          await body(sides, sim);
          await sides.close();
        }),
      );
    };

    for (const width of [4, 8] as const)
      for (const isFetching of [true, false])
        test(`do all that there is to words of ${width} bytes, ${isFetching ? 'and say what was there' : 'unseen'}`, async (sides) => {
          const { rma } = sides.here;
          const { memory, rkey, bytes, at } = mapped(sides);
          const view = new DataView(bytes.buffer, bytes.byteOffset);
          for (const op of NAMES) {
            bytes.fill(0x77);
            view.setBigUint64(8, HIGH | A, true);
            const before = width === 4 ? A : HIGH | A;
            const compare = op === 'compareSwap' ? { compare: before } : {};
            const got = await rma.atomic(op, B, at, rkey, { bytes: width, ...compare }, isFetching);
            assert.equal(await rma.flush(), UcsStatus.UCS_OK);
            assert.equal(got, isFetching ? before : 0n);
            assert.equal(word(bytes, 4), AFTER[op], op);
            assert.equal(view.getUint32(4, true), 0x7777_7777);
            assert.equal(view.getUint32(16, true), 0x7777_7777);
            if (width === 4) assert.equal(view.getUint32(12, true), 0x7000_0000);
          }
          memory.unmap();
        });

    test('lose none of many additions', async (sides) => {
      const { rma } = sides.here;
      const { memory, rkey, bytes, at } = mapped(sides);
      const seen = await Promise.all(
        Array.from({ length: 300 }, () => rma.atomic('add', 1n, at, rkey, { bytes: 4 }, true)),
      );
      await Promise.all(Array.from({ length: 300 }, () => rma.atomic('add', 2n, at, rkey, { bytes: 4 }, false)));
      assert.equal(await rma.flush(), UcsStatus.UCS_OK);
      assert.equal(word(bytes, 4), 900n);
      assert.equal(new Set(seen).size, 300);
      memory.unmap();
    });

    test('wrap around, and take negative values', async (sides) => {
      const { rma } = sides.here;
      const { memory, rkey, bytes, at } = mapped(sides);
      for (const width of [4, 8] as const) {
        await rma.atomic('add', -3n, at, rkey, { bytes: width }, true);
        assert.equal(word(bytes, width), BigInt.asUintN(8 * width, -3n));
        await rma.atomic('add', 3n, at, rkey, { bytes: width }, true);
      }
      assert.equal(word(bytes, 8), 0n);
      memory.unmap();
    });

    test('are refused where the word is not aligned, or the operands are none', async (sides) => {
      const { rma } = sides.here;
      const { memory, rkey, at } = mapped(sides);
      const wrong = [
        () => rma.atomic('add', 1n, at + 4n, rkey, {}, true),
        () => rma.atomic('add', 1n, at + 2n, rkey, { bytes: 4 }, true),
        () => rma.atomic('add', 1n, at, rkey, { compare: 1n }, true),
        () => rma.atomic('compareSwap', 1n, at, rkey, {}, true),
        // @ts-expect-error what JavaScript allows
        () => rma.atomic('nand', 1n, at, rkey, {}, true),
        // @ts-expect-error what JavaScript allows
        () => rma.atomic('add', 1, at, rkey, {}, true),
        // @ts-expect-error what JavaScript allows
        () => rma.atomic('add', 1n, at, rkey, { bytes: 2 }, true),
      ];
      for (const call of wrong) await assert.rejects(call, { errno: 'EINVAL' });
      memory.unmap();
    });

    test('of the adapter are those that it has, and no other way is taken for the others', async (sides) => {
      const { rma, parts } = sides.here;
      const { memory, rkey, bytes, at } = mapped(sides, 'device');
      const { atomics } = parts.transport.capabilities;
      for (const op of ['add', 'xor'] as const)
        for (const width of [4, 8] as const) {
          bytes.fill(0);
          const doing = rma.atomic(op, 5n, at, rkey, { bytes: width }, true);
          const isThere = atomics[width].includes(op === 'add' ? 0 : 3);
          if (isThere) assert.equal(await doing, 0n);
          else await assert.rejects(doing, { errno: 'EOPNOTSUPP' });
          assert.equal(word(bytes, width), isThere ? 5n : 0n);
        }
      memory.unmap();
    });

    test('that are aborted give nothing, and others go on', async (sides) => {
      const { rma } = sides.here;
      const { memory, rkey, at } = mapped(sides);
      const abort = new AbortController();
      const adding = rma.atomic('add', 1n, at, rkey, { signal: abort.signal }, true);
      abort.abort(new Error('no more'));
      await assert.rejects(adding, /no more/);
      assert.ok((await rma.atomic('add', 1n, at, rkey, {}, true)) <= 1n);
      memory.unmap();
    });
  });
