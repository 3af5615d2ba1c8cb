import { assert } from '../../../device/ibta/index.js';
import { BUCKET_SLOTS, BucketIndex, tagOf } from './bucket-index.js';
import { CircularLog } from './circular-log.js';
import { ALIGNMENT, entryBytes, EntryView, MIN_ENTRY_BYTES } from './entry.js';
import { type KeyHash, saltOf } from './key-hash.js';
import { Cause } from './tombstone-table.js';
import type { Mode } from './options.js';
import { SegregatedFit } from './segregated-fit.js';
import type { EntryAllocator, Span } from './span.js';
import type { Stamp } from './stamp.js';

/** What a partition has done since it was made. */
export class Statistics {
  hits = 0;
  misses = 0;
  /** Values that were set, by whichever operation. */
  sets = 0;
  deletes = 0;
  /** Keys that had to go for others, in cache mode. */
  evictions = 0;
  /** Keys whose time had come, counted when that is noticed. */
  expirations = 0;
  refusals = 0;
  /** Keys that are there, also those that have expired and were not yet noticed. */
  keys = 0;
  bytes = 0;
}

const NOWHERE = -1;

/** Is told of each entry that ends, while its key is what was hashed last. */
export type Ended = (entry: EntryView, cause: Cause) => void;

/** Entries in memory and the index that leads to them. It knows nothing of time. */
export class Storage {
  /** The entry that was found or written last. */
  readonly entry: EntryView;
  readonly #index: BucketIndex;
  readonly #allocator: EntryAllocator;
  /** For entries that are not the one in question. */
  readonly #other: EntryView;
  readonly #hash: KeyHash;
  // Of the key that was looked for last. Entries of others may end before it is put, but none changes its place.
  #bucket = 0;
  #tag = 0;
  #found = NOWHERE;
  #swept = 0;

  constructor(
    private readonly mode: Mode,
    memory: Uint8Array,
    buckets: number,
    hash: KeyHash,
    private readonly statistics: Statistics,
    private readonly ended: Ended,
    allocate: (bytes: number) => Uint8Array,
  ) {
    const { byteLength } = memory;
    const salt = saltOf(hash);
    this.entry = new EntryView(memory, salt);
    this.#other = new EntryView(memory, salt);
    this.#hash = hash;
    if (mode === 'cache') {
      this.#index = new BucketIndex(buckets, 0, allocate);
      this.#allocator = new CircularLog(byteLength - (byteLength % ALIGNMENT), (position) => this.#overrun(position));
    } else {
      // As many as there can be full buckets: the memory is full before the index is.
      this.#index = new BucketIndex(buckets, Math.ceil(byteLength / MIN_ENTRY_BYTES / BUCKET_SLOTS), allocate);
      this.#allocator = new SegregatedFit(memory, MIN_ENTRY_BYTES);
    }
  }

  get buckets(): number {
    return this.#index.buckets;
  }

  /** The buckets, as one-sided READs may read them. */
  get bucketMemory(): Uint8Array {
    return this.#index.memory;
  }

  /** The first bucket from that on which has entries; {@link buckets} when there is none. */
  nextOccupied(from: number): number {
    return this.#index.nextOccupied(from);
  }

  /** Looks for a key, and shows it in {@link entry}. */
  find(key: Span): boolean {
    const { entry } = this;
    const index = this.#index;
    this.#hash.of(key.bytes, key.at, key.length);
    this.#bucket = index.bucketOf(this.#hash.low);
    this.#tag = tagOf(this.#hash.high);
    this.#found = NOWHERE;
    let slot = index.match(index.first(this.#bucket), this.#tag);
    while (slot >= 0) {
      entry.at = index.positionOf(slot);
      if (entry.hasKey(key)) {
        this.#found = entry.at;
        return true;
      }
      slot = index.match(index.after(slot), this.#tag);
    }
    return false;
  }

  /**
   * Puts a value under the key that was looked for last.
   *
   * @returns false when there is no room; then nothing has changed
   */
  put(key: Span, value: Span, stamp: Stamp): boolean {
    const byteLength = entryBytes(key.length, value.length);
    if (!this.#replace(byteLength) && !this.#place(byteLength)) return false;
    this.entry.write(key, value, stamp);
    this.statistics.bytes += byteLength;
    return true;
  }

  /** Ends the entry that was found. */
  remove(cause: Cause): void {
    this.ended(this.entry, cause);
    this.#unlink(this.entry, this.#bucket);
    this.#found = NOWHERE;
  }

  eachOf(bucket: number, visit: (entry: EntryView) => void): void {
    const index = this.#index;
    for (let slot = index.first(bucket); slot >= 0; slot = index.after(slot)) {
      this.#other.at = index.positionOf(slot);
      visit(this.#other);
    }
  }

  /** Ends entries of the next buckets whose time has come. @returns those there whose time will come */
  sweep(buckets: number, nowMs: number): number {
    let mortals = 0;
    for (let i = Math.min(buckets, this.buckets); i > 0; i -= 1) {
      mortals += this.#sweepBucket(this.#swept, nowMs);
      this.#swept = (this.#swept + 1) % this.buckets;
    }
    return mortals;
  }

  /** Whether the entry found can be written anew where it lies. */
  #replace(byteLength: number): boolean {
    if (this.#found === NOWHERE) return false;
    this.entry.at = this.#found;
    const before = this.entry.byteLength;
    if (!this.#allocator.fits(this.#found, before, byteLength)) return false;
    this.statistics.bytes -= before;
    return true;
  }

  /** Finds a new place for an entry, to which the index leads instead of the one found. */
  #place(byteLength: number): boolean {
    const position = this.#allocator.reserve(byteLength);
    if (position < 0) return false;
    if (this.#found === NOWHERE) {
      this.#insert(position);
      this.statistics.keys += 1;
    } else {
      this.#index.move(this.#bucket, this.#found, position);
      this.#other.at = this.#found;
      this.#release(this.#other);
    }
    this.entry.at = position;
    return true;
  }

  #insert(position: number): void {
    const index = this.#index;
    if (index.insert(this.#bucket, this.#tag, position)) return;
    this.#crowdOut();
    assert(index.insert(this.#bucket, this.#tag, position), 'a bucket has no slot');
  }

  /** Ends the entry of the bucket that was written first. */
  #crowdOut(): void {
    const index = this.#index;
    const other = this.#other;
    assert(this.mode === 'cache', 'a store has more entries than its index has room for');
    let oldest = index.first(this.#bucket);
    for (let slot = oldest; slot >= 0; slot = index.after(slot)) {
      other.at = index.positionOf(slot);
      this.entry.at = index.positionOf(oldest);
      if (other.isOlderThan(this.entry)) oldest = slot;
    }
    other.at = index.positionOf(oldest);
    this.#end(other, Cause.CROWDED_OUT);
  }

  #overrun(position: number): number {
    const other = this.#other;
    other.at = position;
    const { byteLength } = other;
    if (!other.isLive) return byteLength;
    if (position === this.#found) {
      // It makes room for its own successor.
      this.#unlink(other, this.#bucket);
      this.#found = NOWHERE;
    } else this.#end(other, Cause.EVICTED);
    return byteLength;
  }

  #sweepBucket(bucket: number, nowMs: number): number {
    const index = this.#index;
    const other = this.#other;
    let mortals = 0;
    let slot = index.first(bucket);
    while (slot >= 0) {
      other.at = index.positionOf(slot);
      if (!other.isExpired(nowMs)) {
        if (other.expiresAtMs !== 0) mortals += 1;
        slot = index.after(slot);
      } else {
        this.#end(other, Cause.EXPIRED);
        // The last of the chain has taken its slot, unless it was that.
        slot = index.inUse(slot);
      }
    }
    return mortals;
  }

  #end(entry: EntryView, cause: Cause): void {
    this.#hash.of(entry.bytes, entry.keyAt, entry.keyLength);
    this.ended(entry, cause);
    this.#unlink(entry, this.#index.bucketOf(this.#hash.low));
  }

  #unlink(entry: EntryView, bucket: number): void {
    this.#index.remove(bucket, entry.at);
    this.#release(entry);
    this.statistics.keys -= 1;
  }

  #release(entry: EntryView): void {
    this.statistics.bytes -= entry.byteLength;
    entry.kill();
    this.#allocator.release(entry.at);
  }
}
