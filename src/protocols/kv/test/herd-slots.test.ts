import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BENCH_SLOT_BYTES,
  benchRequestIn,
  benchSlotOf,
  benchWriteOf,
  clearBenchSlot,
  clearHerdSlot,
  HERD_SLOT_BYTES,
  herdRequestIn,
  herdSlotOf,
  herdWriteOf,
  type SlotWrite,
} from '../wire/index.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const key = Uint8Array.from({ length: 16 }, (_, i) => 0xf0 + i);
const value = Uint8Array.from({ length: 32 }, (_, i) => i + 1);

/** A slot that the writes have come to. */
function slotWith(bytes: number, ...writes: readonly SlotWrite[]): Uint8Array {
  const slot = new Uint8Array(bytes);
  for (const write of writes) slot.set(write.bytes, write.offset);
  return slot;
}

describe("HERD's slot", () => {
  it('has the length first and the key last', () => {
    const { offset, bytes } = herdWriteOf({ key, value });
    assert.equal(offset, 0);
    assert.equal(hex(bytes), `2000${hex(value)}${hex(key)}`);
    assert.deepEqual(herdRequestIn(bytes), { key, value });
  });

  it('gets no more than a key written to its end by a GET', () => {
    const write = herdWriteOf({ key });
    assert.deepEqual(write, { offset: 34, bytes: key });
    assert.deepEqual(herdRequestIn(slotWith(HERD_SLOT_BYTES, write)), { key });
  });

  it('holds no request while its last byte is 0, though all else has come', () => {
    const slot = slotWith(HERD_SLOT_BYTES, herdWriteOf({ key, value }));
    slot[HERD_SLOT_BYTES - 1] = 0;
    assert.equal(herdRequestIn(slot), undefined);
  });

  it('holds none when it was cleared, and a GET after that is no PUT of the value that still lies there', () => {
    const slot = slotWith(HERD_SLOT_BYTES, herdWriteOf({ key, value }));
    clearHerdSlot(slot);
    assert.equal(herdRequestIn(slot), undefined);
    slot.set(key, 34);
    assert.deepEqual(herdRequestIn(slot), { key });
  });

  it('with a length beyond its value holds none', () => {
    const slot = slotWith(HERD_SLOT_BYTES, herdWriteOf({ key, value }));
    slot[0] = 33;
    assert.equal(herdRequestIn(slot), undefined);
  });

  it('is found by server, client and number', () => {
    const place = { server: 1, client: 2, clients: 3, window: 4 };
    assert.deepEqual(
      [0, 3, 4].map((number) => herdSlotOf(place, number)),
      [20, 23, 20],
    );
  });
});

describe("rdma_bench's slot", () => {
  it('has key, operation, length and value', () => {
    assert.equal(hex(benchWriteOf({ key, value }).bytes), `${hex(key)}7a20${hex(value)}`);
    assert.equal(hex(benchWriteOf({ key }).bytes), `${hex(key)}79`);
    assert.deepEqual([benchWriteOf({ key, value }).bytes.length, benchWriteOf({ key }).bytes.length], [50, 17]);
  });

  it('holds a request until it is cleared', () => {
    const slot = slotWith(BENCH_SLOT_BYTES, benchWriteOf({ key, value }));
    assert.deepEqual(benchRequestIn(slot), { key, value });
    slot.set(benchWriteOf({ key }).bytes);
    assert.deepEqual(benchRequestIn(slot), { key });
    clearBenchSlot(slot);
    assert.equal(benchRequestIn(slot), undefined);
  });

  it("holds none with the store's own operations, or a value beyond its end", () => {
    const slot = slotWith(BENCH_SLOT_BYTES, benchWriteOf({ key, value }));
    slot[17] = 47;
    assert.equal(benchRequestIn(slot), undefined);
    slot[17] = 46;
    assert.equal(benchRequestIn(slot)?.value?.length, 46);
    slot[16] = 112;
    assert.equal(benchRequestIn(slot), undefined);
  });

  it('is found by worker, client and slot', () => assert.equal(benchSlotOf(2, 3, 5), (2 * 70 + 3) * 32 + 5));
});
