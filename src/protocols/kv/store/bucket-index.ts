import { assert } from '../../../device/ibta/index.js';

/** Slots of a bucket: 64 bytes, a line of the processor's cache. */
export const BUCKET_SLOTS = 8;
const SLOT_BYTES = 8;
export const BUCKET_BYTES: number = BUCKET_SLOTS * SLOT_BYTES;
/** Marks a slot in use, beside 31 bits of tag. */
const IN_USE = 1 << 31;
const FREE = 0;
/** No bucket follows. The first is nobody's successor. */
const NONE = 0;

export function tagOf(high: number): number {
  return high | IN_USE;
}

/**
 * MICA's index: where the entry of a key may lie. A slot has 8 bytes: in use, a tag of 31 bits, and a position; so a search looks at few entries that are of other keys.
 * A bucket that is full goes on in an overflow bucket, while there are any. Within such a chain the slots in use come first, in no order.
 *
 * It lies in memory of its own, which nobody reads by RDMA who may not read the entries: it shows which keys share buckets.
 */
export class BucketIndex {
  /** The buckets that hashes lead to, without those behind them. */
  readonly memory: Uint8Array;
  readonly #words: Int32Array;
  /** Which buckets have entries, a bit each: to list a store that is almost empty takes no look at each bucket. */
  readonly #occupied: Uint32Array;
  /** Which bucket goes on where another ends. */
  readonly #next: Int32Array;
  /** Overflow buckets that were in use and are not: the first, which leads to the others. */
  #returned = NONE;
  /** The first overflow bucket that was never in use: memory that nobody touches costs nothing. */
  #fresh: number;

  /**
   * @param buckets a power of two
   * @param overflow buckets beside them
   * @param allocate gives memory that is all zeros
   */
  constructor(
    readonly buckets: number,
    overflow: number,
    allocate: (bytes: number) => Uint8Array,
  ) {
    const { buffer, byteOffset, byteLength } = allocate((buckets + overflow) * BUCKET_BYTES);
    this.memory = new Uint8Array(buffer, byteOffset, buckets * BUCKET_BYTES);
    this.#words = new Int32Array(buffer, byteOffset, byteLength >> 2);
    this.#next = new Int32Array(buckets + overflow);
    this.#occupied = new Uint32Array((buckets + 31) >>> 5);
    this.#fresh = buckets;
  }

  /** The first bucket from that on which has entries; `buckets` when there is none. */
  nextOccupied(from: number): number {
    const words = this.#occupied;
    let word = from >>> 5;
    if (word >= words.length) return this.buckets;
    let bits = words[word] & (-1 << (from & 31));
    while (bits === 0) {
      word += 1;
      if (word === words.length) return this.buckets;
      bits = words[word];
    }
    return (word << 5) + 31 - Math.clz32(bits & -bits);
  }

  bucketOf(low: number): number {
    return low & (this.buckets - 1);
  }

  /** The first slot of a bucket; -1 when that is free. */
  first(bucket: number): number {
    return this.inUse(bucket * BUCKET_SLOTS);
  }

  /** The next slot of the same chain; -1 after the last in use. */
  after(slot: number): number {
    const next = this.#following(slot);
    return next < 0 ? -1 : this.inUse(next);
  }

  /** The slot itself; -1 when it is free. */
  inUse(slot: number): number {
    return this.#words[2 * slot] === FREE ? -1 : slot;
  }

  /** From that slot on the first with that tag; -1: none. All of them may be of the key. */
  match(from: number, tag: number): number {
    let slot = from;
    while (slot >= 0 && this.#words[2 * slot] !== tag) slot = this.after(slot);
    return slot;
  }

  positionOf(slot: number): number {
    return this.#words[2 * slot + 1];
  }

  /** @returns false when there is no slot */
  insert(bucket: number, tag: number, position: number): boolean {
    let slot = bucket * BUCKET_SLOTS;
    while (this.#words[2 * slot] !== FREE) {
      const next = this.#following(slot);
      if (next < 0 && !this.#extend(slot)) return false;
      slot = next < 0 ? this.#following(slot) : next;
    }
    this.#words[2 * slot] = tag;
    this.#words[2 * slot + 1] = position;
    this.#occupied[bucket >>> 5] |= 1 << (bucket & 31);
    return true;
  }

  /** The entry lies elsewhere now. */
  move(bucket: number, from: number, to: number): void {
    this.#words[2 * this.#slotOf(bucket, from) + 1] = to;
  }

  /** The last of the chain takes the slot's place. */
  remove(bucket: number, position: number): void {
    const slot = this.#slotOf(bucket, position);
    let last = slot;
    for (let next = slot; next >= 0; next = this.after(next)) last = next;
    this.#words[2 * slot] = this.#words[2 * last];
    this.#words[2 * slot + 1] = this.#words[2 * last + 1];
    this.#words[2 * last] = FREE;
    if (this.first(bucket) < 0) this.#occupied[bucket >>> 5] &= ~(1 << (bucket & 31));
    if (last % BUCKET_SLOTS === 0 && last >= this.buckets * BUCKET_SLOTS) this.#cut(bucket, last / BUCKET_SLOTS);
  }

  #slotOf(bucket: number, position: number): number {
    let slot = this.first(bucket);
    while (slot >= 0 && this.#words[2 * slot + 1] !== position) slot = this.after(slot);
    assert(slot >= 0, 'an entry that no slot leads to');
    return slot;
  }

  /** The slot behind another, in use or not; -1 at the end of the chain. */
  #following(slot: number): number {
    if ((slot & (BUCKET_SLOTS - 1)) !== BUCKET_SLOTS - 1) return slot + 1;
    const next = this.#next[(slot / BUCKET_SLOTS) | 0];
    return next === NONE ? -1 : next * BUCKET_SLOTS;
  }

  #extend(lastSlot: number): boolean {
    let bucket = this.#returned;
    if (bucket !== NONE) this.#returned = this.#next[bucket];
    else if (this.#fresh < this.#next.length) bucket = this.#fresh++;
    else return false;
    this.#next[(lastSlot / BUCKET_SLOTS) | 0] = bucket;
    this.#next[bucket] = NONE;
    return true;
  }

  /** Takes an empty bucket from the end of a chain. */
  #cut(home: number, empty: number): void {
    let before = home;
    while (this.#next[before] !== empty) before = this.#next[before];
    this.#next[before] = NONE;
    this.#next[empty] = this.#returned;
    this.#returned = empty;
  }
}
