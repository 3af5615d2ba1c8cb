import {
  ALIGNMENT,
  BUCKET_BYTES,
  EntryView,
  MIN_ENTRY_BYTES,
  Reading,
  type SipHash,
  Span,
  tagOf,
} from '../../store/index.js';
import type { Layout, ReadableMemory } from '../../wire/index.js';

/** The longest READ: what is longer the server is asked for. */
export const MOST_BYTES = 4096;
/** As many READs serve one GET: on average two do, and a key that changes all the time is better asked for. */
const MOST_READS = 8;

export const Step = {
  READ: 'read',
  /** The entry is in {@link Lookup.entry}. */
  FOUND: 'found',
  ASK: 'ask',
} as const;
export type Step = (typeof Step)[keyof typeof Step];

export interface LookupCounters {
  reads: number;
  /** Entries that were being written while they were read. */
  torn: number;
}

/**
 * One search for a key in the memory of a server, without I/O: says what is to be read, and what comes of it. It takes nothing on trust that was read:
 * whatever that is, it reads within the store, and a bounded number of times.
 *
 * It finds, or does not know: a bucket that is read while an entry moves may show it nowhere. What it finds was in the store, whole and not expired, at some moment
 * while it was read: at any moment at most one entry of a key is whole and live, since the server ends the old one before it writes the new.
 */
export class Lookup {
  /** Where the next READ reads, how many bytes behind the beginning, and how many bytes. */
  from: ReadableMemory;
  offset = 0;
  length = 0;
  /** What was found; true until the next READ. */
  readonly entry: EntryView;
  readonly #words: Int32Array;
  readonly #key = new Span();
  readonly #positions: number[] = [];
  #tag = 0;
  #bucketOffset = 0;
  #reads = 0;
  #isBucket = true;

  /** @param landing where all that is read is put: {@link MOST_BYTES}, at a multiple of 8 in its buffer */
  constructor(
    private readonly layout: Layout,
    private readonly hash: SipHash,
    salt: number,
    landing: Uint8Array,
    private readonly counters: LookupCounters,
  ) {
    this.from = layout.buckets;
    this.entry = new EntryView(landing, salt);
    this.#words = new Int32Array(landing.buffer, landing.byteOffset, BUCKET_BYTES >> 2);
  }

  /** Begins to look for a key: there is something to read. */
  begin(key: Uint8Array): void {
    const { hash, layout } = this;
    this.#key.set(key);
    hash.of(key, 0, key.length);
    this.#tag = tagOf(hash.high);
    this.#bucketOffset = (hash.low & (layout.buckets.bytes / BUCKET_BYTES - 1)) * BUCKET_BYTES;
    this.#reads = 0;
    this.#readBucket();
  }

  /**
   * What was to be read is there.
   *
   * @param nowMs by the server's clock, at the latest: what may have expired counts as expired
   * @param likelyBytes how long entries are likely to be
   */
  take(nowMs: number, likelyBytes: number): Step {
    this.counters.reads += 1;
    this.#reads += 1;
    const step = this.#isBucket ? this.#takeBucket(likelyBytes) : this.#takeEntry(nowMs, likelyBytes);
    return step === Step.READ && this.#reads >= MOST_READS ? Step.ASK : step;
  }

  #readBucket(): Step {
    this.#isBucket = true;
    this.from = this.layout.buckets;
    this.offset = this.#bucketOffset;
    this.length = BUCKET_BYTES;
    return Step.READ;
  }

  #readEntry(position: number, bytes: number): Step {
    this.#isBucket = false;
    this.from = this.layout.entries;
    this.offset = position;
    this.length = Math.min(Math.max(bytes, MIN_ENTRY_BYTES), MOST_BYTES, this.from.bytes - position);
    return Step.READ;
  }

  #takeBucket(likelyBytes: number): Step {
    const words = this.#words;
    this.#positions.length = 0;
    for (let i = 0; i < words.length; i += 2)
      if (words[i] === this.#tag && this.#isPosition(words[i + 1])) this.#positions.push(words[i + 1]);
    return this.#tryNext(likelyBytes) ?? Step.ASK;
  }

  #isPosition(position: number): boolean {
    return position >= 0 && position % ALIGNMENT === 0 && position <= this.layout.entries.bytes - MIN_ENTRY_BYTES;
  }

  /** @returns undefined when no slot is left that may be of the key */
  #tryNext(likelyBytes: number): Step | undefined {
    const position = this.#positions.pop();
    return position === undefined ? undefined : this.#readEntry(position, likelyBytes);
  }

  #takeEntry(nowMs: number, likelyBytes: number): Step {
    const { entry, length, offset: position } = this;
    if (this.#isLonger()) return this.#readWhole(position);
    switch (entry.verify(this.#key, nowMs, position, length)) {
      case Reading.OK:
        return Step.FOUND;
      case Reading.TORN:
        this.counters.torn += 1;
        return this.#readEntry(position, length);
      case Reading.GONE:
        // Another key's, or it is elsewhere by now.
        return this.#tryNext(likelyBytes) ?? this.#readBucket();
      case Reading.EXPIRED:
        return Step.ASK;
    }
  }

  /** Whether what was read is the beginning of an entry of the key, as far as can be seen. */
  #isLonger(): boolean {
    const { entry, length } = this;
    return entry.isLive && (entry.valueLength > MOST_BYTES || entry.byteLength > length) && entry.hasKey(this.#key);
  }

  #readWhole(position: number): Step {
    const { entry, layout } = this;
    const fits = entry.valueLength <= MOST_BYTES && entry.byteLength <= MOST_BYTES;
    if (!fits || position + entry.byteLength > layout.entries.bytes) return Step.ASK;
    return this.#readEntry(position, entry.byteLength);
  }
}
