import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BufferPool, type Lease } from '../index.js';
import { simulate } from '../../../entry/sim.js';

const CLASSES = [
  { bytes: 16, count: 4 },
  { bytes: 64, count: 3 },
  { bytes: 256, count: 2 },
];

function withPool(limit: number, test: (pool: BufferPool) => void | Promise<void>): Promise<void> {
  return simulate(async (sim) => {
    const pd = sim.host('host').context.allocPd();
    const pool = new BufferPool(pd, limit, CLASSES);
    await test(pool);
    pool.close();
    pd.dealloc();
  });
}

/** All that comes after what is under way. */
const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a buffer pool', () => {
  it('lends buffers that are large enough, to one at a time, and never more bytes than it may', async () => {
    const step = fc.oneof(
      fc.record({ ask: fc.integer({ min: 0, max: 300 }), owner: fc.constantFrom('a', 'b') }),
      fc.record({ giveBack: fc.nat() }),
    );
    const plans = fc.sample(fc.tuple(fc.integer({ min: 0, max: 1500 }), fc.array(step, { maxLength: 120 })), 100);
    for (const [limit, plan] of plans)
      await withPool(limit, (pool) => {
        const lent: { lease: Lease; owner: string; mark: number }[] = [];
        let marks = 0;
        for (const what of plan) {
          if ('ask' in what) {
            const lease = pool.tryLease(what.ask, what.owner);
            if (lease === undefined) {
              const fits = CLASSES.filter(({ bytes }) => bytes >= what.ask);
              const bytesOf = ({ lease: { capacity } }: (typeof lent)[number]): number => capacity;
              const inUse = lent.map(bytesOf).filter((bytes) => bytes >= what.ask);
              assert.ok(fits.length === 0 || pool.bytes + fits[0].bytes > limit, 'it could have made another');
              assert.ok(inUse.length === 0 || pool.leased > 0);
              continue;
            }
            assert.ok(lease.capacity >= what.ask && lease.bytes.length === lease.capacity);
            marks = (marks + 1) % 256;
            lease.bytes.fill(marks);
            lent.push({ lease, owner: what.owner, mark: marks });
          } else if (lent.length > 0) {
            const [{ lease }] = lent.splice(what.giveBack % lent.length, 1);
            lease.release();
          }
          assert.ok(pool.bytes <= limit);
          assert.equal(pool.leased, lent.length);
          for (const { lease, mark } of lent) assert.ok(lease.bytes.every((byte) => byte === mark));
          for (const owner of ['a', 'b']) {
            const mine = lent.filter((one) => one.owner === owner);
            const holding = pool.leases().find((one) => one.owner === owner);
            assert.equal(holding?.count ?? 0, mine.length);
            assert.equal(
              holding?.bytes ?? 0,
              mine.reduce((sum, { lease }) => sum + lease.capacity, 0),
            );
          }
        }
        for (const { lease } of lent) lease.release();
      });
  });

  it('registers what it lends', () =>
    withPool(1000, (pool) => {
      const lease = pool.lease(10, 'tester');
      const other = pool.lease(10, 'tester');
      assert.equal(lease.lkey, other.lkey);
      assert.equal(Math.abs(lease.addr - other.addr), 16);
      assert.equal(lease.bytes.buffer, other.bytes.buffer);
      lease.release();
      other.release();
    }));

  it('names those who have all of it', () =>
    withPool(64, (pool) => {
      const leases = [1, 2, 3, 4].map(() => pool.lease(16, 'the one'));
      assert.throws(() => pool.lease(16, 'me'), { errno: 'ENOMEM', message: /the one \(4, 64 bytes\)/ });
      assert.throws(() => pool.lease(257, 'me'), { errno: 'EINVAL', message: /257 bytes.*largest has 256/ });
      for (const lease of leases) lease.release();
    }));

  it('takes each buffer back once', () =>
    withPool(100, (pool) => {
      const lease = pool.lease(1, 'me');
      lease.release();
      assert.throws(() => lease.release(), /given back twice/);
      lease[Symbol.dispose]();
    }));

  it('lends to those who wait in their order, and to nobody else before', () =>
    withPool(64, async (pool) => {
      const lent = [1, 2, 3, 4].map(() => pool.lease(16, 'me'));
      const giveBack = (): void => lent.pop()?.release();
      const told: string[] = [];
      const wait = (name: string): (() => void) =>
        pool.whenFree(16, name, (lease) => {
          told.push(name);
          lent.unshift(lease);
        });
      wait('a');
      const giveUp = wait('b');
      wait('c');
      await later();
      assert.deepEqual(told, []);
      giveUp();
      giveBack();
      assert.ok(pool.tryLease(16, 'somebody who did not wait') === undefined);
      assert.deepEqual(told, []);
      await later();
      assert.deepEqual(told, ['a']);
      giveBack();
      await later();
      assert.deepEqual(told, ['a', 'c']);
      assert.deepEqual(
        pool.leases().map(({ owner, count }) => [owner, count]),
        [
          ['me', 2],
          ['a', 1],
          ['c', 1],
        ],
      );
      while (lent.length > 0) giveBack();
      pool.lease(16, 'somebody who did not wait').release();
    }));
});
