import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '../../../../device/link/index.js';
import { type Mode, Partition, Span, Status } from '../../store/index.js';

const NOW = 1000;
const key = (i: number): Span => new Span(Buffer.from(`key-${i}`));
const value = (i: number, length: number): Span => new Span(Buffer.alloc(length, i));

function partition(mode: Mode, memoryBytes: number, buckets?: number): Partition {
  return new Partition({ mode, memory: new Uint8Array(memoryBytes), seed: 3n, buckets, maxValueBytes: 4 << 20 });
}

/** Sets keys from 0 on until one is refused. @returns how many */
function fill(kv: Partition, lengthOf: (i: number) => number): number {
  let i = 0;
  while (kv.set(key(i), value(i, lengthOf(i)), NOW) === Status.OK) i += 1;
  return i;
}

function assertThere(kv: Partition, i: number, length: number): void {
  assert.equal(kv.get(key(i), NOW), Status.OK, `key ${i}`);
  assert.ok(Buffer.alloc(length, i).equals(kv.entry.value()), `value ${i}`);
}

describe('a partition in cache mode', () => {
  it('gives up the oldest when its memory is full', () => {
    const kv = partition('cache', 1 << 16, 4096);
    for (let i = 0; i < 10_000; i += 1) assert.equal(kv.set(key(i), value(i, i % 300), NOW), Status.OK);
    const isThere = Array.from({ length: 10_000 }, (_, i) => kv.has(key(i), NOW) === Status.OK);
    const first = isThere.indexOf(true);
    assert.ok(isThere.slice(first).every(Boolean), 'one is gone that is not among the oldest');
    assert.ok(10_000 - first > (1 << 16) / 200, 'much memory is empty');
    for (let i = first; i < 10_000; i += 1) assertThere(kv, i, i % 300);
    assert.equal(kv.statistics.evictions, first);
    assert.deepEqual(kv.explain(key(first - 1), NOW), { is: 'evicted', whenMs: NOW, why: 'memory' });
  });

  it('gives up none that it has room for', () => {
    const kv = partition('cache', 1 << 16, 64);
    for (let round = 0; round < 1000; round += 1)
      for (let i = 0; i < 100; i += 1) assert.equal(kv.set(key(i), value(round, 32), NOW), Status.OK);
    assert.equal(kv.statistics.evictions, 0);
  });

  it('gives up none that was set again, in the same length, before half of its memory was written since', () => {
    const bytes = 1 << 16;
    const kv = partition('cache', bytes, 4096);
    const often = key(-1);
    kv.set(often, value(0, 32), NOW);
    for (let i = 0; i < 200; i += 1) {
      kv.set(often, value(i, 32), NOW);
      // With entries of 80 bytes that is a third of the memory.
      for (let other = 0; other < 256; other += 1) kv.set(key(256 * i + other), value(1, 32), NOW);
      assert.equal(kv.has(often, NOW), Status.OK, `it has gone in round ${i}`);
    }
  });

  it('gives up what was written first when a bucket is full', () => {
    const kv = partition('cache', 1 << 16, 1);
    for (let i = 0; i < 8; i += 1) kv.set(key(i), value(i, 10), NOW);
    kv.set(key(0), value(0, 10), NOW);
    kv.set(key(8), value(8, 10), NOW);
    assert.deepEqual(kv.explain(key(1), NOW), { is: 'evicted', whenMs: NOW, why: 'bucket' });
    for (const i of [0, 2, 3, 4, 5, 6, 7, 8]) assertThere(kv, i, 10);
  });

  it('never writes over its end', () => {
    const memory = new Uint8Array(8192 + 64).fill(0xee);
    const kv = new Partition({ mode: 'cache', memory: memory.subarray(0, 8192), seed: 3n });
    const random = new SeededRandom(1);
    for (let i = 0; i < 5000; i += 1) kv.set(key(i), value(i, random.below(kv.maxValueBytes)), NOW);
    assert.ok(memory.subarray(8192).every((byte) => byte === 0xee));
  });
});

describe('a partition in store mode', () => {
  it('refuses what it has no room for, and loses nothing', () => {
    const kv = partition('store', 1 << 18, 16);
    const keys = fill(kv, (i) => (i * 37) % 500);
    assert.ok(kv.statistics.bytes > 0.9 * (1 << 18), 'it refuses while much is free');
    for (let i = 0; i < keys; i += 1) assertThere(kv, i, (i * 37) % 500);
    assert.equal(kv.set(key(1), value(1, 499), NOW), Status.NO_SPACE);
    assertThere(kv, 1, 37);
    assert.equal(kv.set(key(1), value(9, 37), NOW), Status.OK, 'the same length fits where the old value lies');
    assert.equal(kv.statistics.evictions, 0);
  });

  it('has all of its memory again when everything was deleted, in whatever order', () => {
    const kv = partition('store', 1 << 18, 16);
    const random = new SeededRandom(2);
    for (let round = 0; round < 5; round += 1) {
      const keys = fill(kv, () => random.below(700));
      const order = Array.from({ length: keys }, (_, i) => i);
      for (let i = keys - 1; i > 0; i -= 1) {
        const other = random.below(i + 1);
        [order[i], order[other]] = [order[other], order[i]];
      }
      for (const i of order) assert.equal(kv.delete(key(i), NOW), Status.OK);
      assert.deepEqual([kv.statistics.keys, kv.statistics.bytes], [0, 0]);
      // Two of nearly half of it each have room only if nothing is left in between.
      for (const i of [0, 1]) assert.equal(kv.set(key(i), value(i, kv.maxValueBytes), NOW), Status.OK);
      for (const i of [0, 1]) kv.delete(key(i), NOW);
    }
  });

  it('makes room of what has expired, before it refuses', () => {
    const kv = partition('store', 1 << 16, 16);
    let i = 0;
    while (kv.set(key(i), value(i, 100), NOW, 10) === Status.OK) i += 1;
    assert.equal(kv.set(key(i), value(i, 100), NOW + 9), Status.NO_SPACE);
    assert.equal(kv.set(key(i), value(i, 100), NOW + 10), Status.OK);
    assert.deepEqual([kv.statistics.keys, kv.statistics.expirations], [1, i]);
  });

  it('holds more keys than buckets have slots', () => {
    const kv = partition('store', 1 << 17, 1);
    const keys = fill(kv, () => 0);
    assert.ok(keys > 2000);
    assertThere(kv, 0, 0);
    for (let round = 0; round < 3; round += 1) {
      for (let i = 0; i < 500; i += 1) assert.equal(kv.delete(key(i), NOW), Status.OK);
      for (let i = 0; i < 500; i += 1) assert.equal(kv.set(key(i), value(i, 0), NOW), Status.OK);
    }
    assert.deepEqual([kv.statistics.keys, kv.statistics.evictions], [keys, 0]);
  });

  it('takes values of megabytes', () => {
    const kv = partition('store', 16 << 20);
    for (const i of [0, 1, 2]) assert.equal(kv.set(key(i), value(i, 4 << 20), NOW), Status.OK);
    for (const i of [0, 1, 2]) assertThere(kv, i, 4 << 20);
    assert.equal(kv.set(key(3), value(3, (4 << 20) + 1), NOW), Status.TOO_LARGE);
  });
});
