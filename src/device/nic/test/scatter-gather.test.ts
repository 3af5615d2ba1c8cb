import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Mtu } from '../../ibta/index.js';
import type { TestMr } from './host.js';
import { assertCompleted, Pair, pattern } from './pair.js';
import type { Sge } from './rings.js';

/** Entries of the given lengths, each in a region of its own, at an odd place in it. */
function pieces(make: (size: number) => TestMr, lengths: readonly number[]): { regions: TestMr[]; sgList: Sge[] } {
  const regions = lengths.map((length) => make(length + 7));
  return { regions, sgList: regions.map((region, i) => region.sge(3, lengths[i])) };
}

function gathered(regions: readonly TestMr[], lengths: readonly number[]): Uint8Array {
  return Buffer.concat(regions.map((region, i) => region.bytes.subarray(3, 3 + lengths[i])));
}

function untouchedAround(regions: readonly TestMr[], lengths: readonly number[]): boolean {
  return regions.every(
    (region, i) =>
      region.canariesIntact &&
      region.bytes.subarray(0, 3).every((byte) => byte === 0) &&
      region.bytes.subarray(3 + lengths[i]).every((byte) => byte === 0),
  );
}

const SPLITS: readonly (readonly [readonly number[], readonly number[]])[] = [
  [[1000], [1, 2, 997]],
  [[1, 1, 1, 1], [4]],
  [
    [255, 1, 257, 3],
    [7, 500, 9],
  ],
  [
    [600, 13, 256, 1],
    [1, 1, 868],
  ],
  [
    [0, 300, 0, 5],
    [0, 0, 305, 0],
  ],
  [
    [97, 96, 95, 94],
    [100, 200, 82],
  ],
];

const CAP = { maxSendSge: 4, maxRecvSge: 4 };

describe('scatter and gather', () => {
  it('a SEND is gathered from and scattered to entries of any lengths', () => {
    for (const [from, to] of SPLITS) {
      const pair = new Pair();
      const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 }, qpA: { cap: CAP }, qpB: { cap: CAP } });
      const source = pieces((size) => pair.a.mrOf(pattern(size, size)), from);
      const target = pieces((size) => pair.b.mr(size), to);
      const received = b.postRecv({ sgList: target.sgList });
      const sent = a.post({ opcode: 2, sgList: source.sgList });
      pair.drive();
      assertCompleted(a.sent(), [sent]);
      assertCompleted(b.received(), [received]);
      assert.deepEqual(gathered(target.regions, to), gathered(source.regions, from));
      assert.ok(untouchedAround(target.regions, to));
    }
  });

  it('a WRITE is gathered from entries of any lengths into one place', () => {
    for (const [from] of SPLITS) {
      const pair = new Pair();
      const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
      const source = pieces((size) => pair.a.mrOf(pattern(size, size)), from);
      const total = from.reduce((sum, length) => sum + length, 0);
      const target = pair.b.mr(total + 2);
      const wrId = a.post({ opcode: 0, sgList: source.sgList, ...target.at(1) });
      pair.drive();
      assertCompleted(a.sent(), [wrId]);
      assert.deepEqual(Buffer.from(target.bytes.subarray(1, 1 + total)), gathered(source.regions, from));
      assert.deepEqual([target.bytes[0], target.bytes[total + 1]], [0, 0]);
    }
  });

  it('a READ is scattered to entries of any lengths', () => {
    for (const [, to] of SPLITS) {
      const pair = new Pair();
      const { a } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
      const total = to.reduce((sum, length) => sum + length, 0);
      const source = pair.b.mrOf(pattern(total));
      const target = pieces((size) => pair.a.mr(size), to);
      const wrId = a.post({ opcode: 4, sgList: target.sgList, ...source.at(0) });
      pair.drive();
      assertCompleted(a.sent(), [wrId]);
      assert.deepEqual(gathered(target.regions, to), Buffer.from(source.bytes));
      assert.ok(untouchedAround(target.regions, to));
    }
  });

  it('a SEND shorter than the receive leaves the rest of the receive alone', () => {
    const pair = new Pair();
    const { a, b } = pair.connect({ both: { pathMtu: Mtu.MTU_256 } });
    const source = pair.a.mrOf(pattern(301));
    const target = pieces((size) => pair.b.mr(size), [300, 100]);
    b.postRecv({ sgList: target.sgList });
    a.send(source);
    pair.drive();
    assert.equal(b.received()[0].byteLen, 301);
    assert.equal(target.regions[1].bytes[3], source.bytes[300]);
    assert.ok(target.regions[1].bytes.subarray(4).every((byte) => byte === 0));
  });

  it('a receive without entries takes a SEND without data', () => {
    const pair = new Pair();
    const { a, b } = pair.connect();
    const received = b.postRecv();
    const sent = a.post({ opcode: 2 });
    pair.drive();
    assertCompleted(a.sent(), [sent]);
    assertCompleted(b.received(), [received]);
  });

  it('the fetched value of an atomic may be scattered as well', () => {
    const pair = new Pair();
    const { a } = pair.connect();
    const counter = pair.b.mr(8);
    counter.view.setBigUint64(0, 0x0102030405060708n, true);
    const [low, high] = [pair.a.mr(3), pair.a.mr(5)];
    a.post({ opcode: 6, sgList: [low.sge(), high.sge()], ...counter.at(0), compareAdd: 1n });
    pair.drive();
    assert.deepEqual([...low.bytes, ...high.bytes], [8, 7, 6, 5, 4, 3, 2, 1]);
  });
});
