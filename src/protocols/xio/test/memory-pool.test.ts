import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { XioMemoryPool } from '../../../entry/xio.js';

describe('pools of memory for xio', () => {
  it('lend the smallest buffers that hold so much, and larger ones where those are gone', () => {
    const pool = new XioMemoryPool({
      slabs: [
        { bytes: 1000, max: 1 },
        { bytes: 100, max: 2, quantum: 1 },
      ],
    });
    const sizes = (): unknown => pool.statistics.map(({ bytes, made, lent }) => [bytes, made, lent]);
    const [one, two] = [pool.lease(1), pool.lease(100)];
    assert.deepEqual([one.bytes.length, two.bytes.length], [1, 100]);
    assert.deepEqual(sizes(), [
      [100, 2, 2],
      [1000, 0, 0],
    ]);
    const three = pool.lease(50);
    assert.deepEqual(sizes(), [
      [100, 2, 2],
      [1000, 1, 1],
    ]);
    assert.equal(pool.tryLease(1), undefined);
    assert.throws(() => pool.lease(1), { code: 'XIO_E_NO_BUFS' });
    one.release();
    one.release();
    assert.equal(pool.lent, 2);
    assert.equal(pool.lease(100).bytes.buffer, one.bytes.buffer);
    three[Symbol.dispose]();
    assert.equal(pool.lent, 2);
  });

  it('lend no larger one where that was asked for', () => {
    const pool = new XioMemoryPool({ slabs: [{ bytes: 10, max: 1 }, { bytes: 20 }], smallestOnly: true });
    assert.ok(pool.tryLease(5));
    assert.equal(pool.tryLease(5), undefined);
    assert.ok(pool.tryLease(15));
  });

  it('lend memory that no two have, aligned as was asked for', () => {
    const pool = new XioMemoryPool({ slabs: [{ bytes: 100, min: 3, quantum: 2, max: 7, align: 256 }] });
    assert.deepEqual(pool.statistics, [{ bytes: 100, made: 3, lent: 0 }]);
    const leases = Array.from({ length: 7 }, () => pool.lease(100));
    leases.forEach(({ bytes }, i) => bytes.fill(i + 1));
    assert.ok(leases.every(({ bytes }, i) => bytes.every((byte) => byte === i + 1)));
    const [first] = leases;
    for (const { bytes } of leases)
      if (bytes.buffer === first.bytes.buffer) assert.equal((bytes.byteOffset - first.bytes.byteOffset) % 256, 0);
  });

  it('have six sizes at most, and those that can be', () => {
    const pool = new XioMemoryPool();
    assert.equal(pool.statistics.length, 6);
    assert.equal(pool.lease(5000).bytes.length, 5000);
    assert.throws(() => pool.addSlab({ bytes: 7 }), { code: 'XIO_E_NO_BUFS' });
    const empty = new XioMemoryPool({ slabs: [] });
    for (const slab of [{ bytes: 0 }, { bytes: 1, min: 2, max: 1 }, { bytes: 1, align: 3 }, { bytes: 1, quantum: 0 }])
      assert.throws(() => empty.addSlab(slab), { code: 'EINVAL' });
    empty.addSlab({ bytes: 1 });
    assert.throws(() => empty.addSlab({ bytes: 1 }), { code: 'EINVAL' });
    assert.equal(empty.tryLease(2), undefined);
  });

  it('are disposed of when nothing is lent', () => {
    const pool = new XioMemoryPool({ slabs: [{ bytes: 10 }] });
    const lease = pool.lease(10);
    assert.throws(() => pool[Symbol.dispose](), { code: 'XIO_E_STATE' });
    lease.release();
    pool[Symbol.dispose]();
    pool[Symbol.dispose]();
    assert.throws(() => pool.lease(1), { code: 'XIO_E_STATE' });
  });
});
