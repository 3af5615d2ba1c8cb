import { type EntryView, MAX_KEY_BYTES } from './entry.js';
import { type KeyHash, SipHash } from './key-hash.js';
import { Cause, TombstoneTable } from './tombstone-table.js';
import { type Mode, type PartitionOptions, settingsOf } from './options.js';
import { Span } from './span.js';
import { Stamp } from './stamp.js';
import { Status } from './status.js';
import { Statistics, Storage } from './storage.js';

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
const LONGEST = String(MIN).length;
const INTEGER = /^(0|-?[1-9][0-9]*)$/;

/**
 * An integer of 64 bits, signed, in decimal text, as Redis wants it: no blanks, no plus, no leading zeros, no `-0`.
 *
 * @returns undefined when it is none
 */
export function parseInteger({ bytes, at, length }: Span): bigint | undefined {
  if (length > LONGEST) return undefined;
  const text = String.fromCharCode(...bytes.subarray(at, at + length));
  if (!INTEGER.test(text)) return undefined;
  const integer = BigInt(text);
  return isInteger(integer) ? integer : undefined;
}

/** Whether it fits into 64 bits. */
function isInteger(integer: bigint): boolean {
  return integer >= MIN && integer <= MAX;
}

function formatInteger(integer: bigint): Uint8Array {
  return Uint8Array.from(String(integer), (digit) => digit.charCodeAt(0));
}

/**
 * Is told of every change of a partition that its clients have asked for. Keys whose time comes, and those that a cache evicts, are none: what was said of them before
 * tells when they end, or does no harm.
 */
export interface Changes {
  /**
   * A key is about to change; it may yet be that it does not.
   *
   * @param entry what it is before; undefined when it is not there. Nothing of it holds after this has returned
   */
  changing(key: Span, entry: EntryView | undefined): void;
  /** It was set: that is what it is now. */
  set(entry: EntryView): void;
  touched(entry: EntryView): void;
  deleted(key: Span): void;
}

/** What became of a key; see {@link Partition.explain}. */
export type Explanation =
  | { readonly is: 'present'; readonly version: bigint; readonly expiresAtMs: number }
  /** `isCertain`: false when it may have been there, so long ago that others are remembered in its place. */
  | { readonly is: 'never'; readonly isCertain: boolean }
  | { readonly is: 'expired' | 'deleted'; readonly whenMs: number }
  /** `why`: it was among the oldest, and the memory was needed; or it was the oldest of its bucket, which was full. */
  | { readonly is: 'evicted'; readonly whenMs: number; readonly why: 'memory' | 'bucket' };

const GONE: Readonly<Record<Cause, (whenMs: number) => Explanation>> = {
  [Cause.EXPIRED]: (whenMs) => ({ is: 'expired', whenMs }),
  [Cause.DELETED]: (whenMs) => ({ is: 'deleted', whenMs }),
  [Cause.EVICTED]: (whenMs) => ({ is: 'evicted', whenMs, why: 'memory' }),
  [Cause.CROWDED_OUT]: (whenMs) => ({ is: 'evicted', whenMs, why: 'bucket' }),
};

const COUNTERS = {
  [Cause.EXPIRED]: 'expirations',
  [Cause.DELETED]: 'deletes',
  [Cause.EVICTED]: 'evictions',
  [Cause.CROWDED_OUT]: 'evictions',
} as const;

/** Buckets in which a full store looks for what has expired before it refuses. */
const RESCUE_BUCKETS = 64;

/**
 * The keys that one thread owns, in memory that the caller supplies, without clock or I/O. Every method that takes `nowMs` wants milliseconds, whole and
 * from 1 on, of a clock that does not go back.
 *
 * A method answers with a {@link Status} and, where it says so, with an entry in {@link entry}. What that shows, and every view made of it, holds until the
 * next method is called. Keys and values are copied in; they may not lie in {@link memory}. GET and SET of values of less than 128 bytes allocate nothing, unless another
 * key has to go for it, which takes a number.
 */
export class Partition {
  readonly memory: Uint8Array;
  readonly statistics = new Statistics();
  readonly maxValueBytes: number;
  readonly mode: Mode;
  /** Of the hash of keys; undefined where that is another. Whoever knows it can find keys that all fall into one bucket. */
  readonly seed: bigint | undefined;
  changes: Changes | undefined;
  readonly #hash: KeyHash;
  readonly #storage: Storage;
  readonly #obituaries: TombstoneTable;
  readonly #stamp: Stamp;
  readonly #earlier = new Stamp(0n);
  #nowMs = 0;
  /** Buckets that a sweep has to look at before it is known that nothing will expire. */
  #unswept = 0;

  /**
   * @param call what errors name
   * @throws VerbsError EINVAL for options that make no sense
   */
  constructor(options: PartitionOptions, call = 'Partition') {
    const settings = settingsOf(options, call);
    this.memory = options.memory;
    this.mode = options.mode;
    this.maxValueBytes = settings.maxValueBytes;
    this.#hash = options.hash ?? new SipHash(options.seed);
    this.#storage = new Storage(
      options.mode,
      options.memory,
      settings.buckets,
      this.#hash,
      this.statistics,
      (entry, cause) => this.#onEnded(entry, cause),
      options.allocate ?? ((bytes) => new Uint8Array(bytes)),
    );
    this.seed = options.hash === undefined ? options.seed : undefined;
    this.#obituaries = new TombstoneTable(settings.remembered);
    this.#stamp = new Stamp(settings.lastVersion);
  }

  /**
   * The entry that the last method was about: after GET, HAS, SET, ADD, CAS, INCR and TOUCH that were OK the one that is there now, after EXISTS the one that
   * stood in the way. Where it lies, and its version, are what a client needs to read it one-sided.
   */
  get entry(): EntryView {
    return this.#storage.entry;
  }

  get(key: Span, nowMs: number): Status {
    const status = this.#find(key, nowMs);
    if (status === Status.OK) this.statistics.hits += 1;
    else if (status === Status.NOT_FOUND) this.statistics.misses += 1;
    return status;
  }

  /** The same as GET, for those who do not want the value. */
  has(key: Span, nowMs: number): Status {
    return this.get(key, nowMs);
  }

  /**
   * Sets a value, whether the key was there or not.
   *
   * @param ttlMs how long it lives; 0: for ever; less: not at all
   * @returns OK, NO_SPACE, BAD_KEY, TOO_LARGE; unless OK nothing has changed
   */
  set(key: Span, value: Span, nowMs: number, ttlMs = 0): Status {
    const status = this.#find(key, nowMs);
    if (status === Status.BAD_KEY) return status;
    return this.#put(key, value, nowMs, ttlMs, status === Status.OK);
  }

  /** Sets a value if the key is not there. @returns what {@link set} does, or EXISTS */
  add(key: Span, value: Span, nowMs: number, ttlMs = 0): Status {
    const status = this.#find(key, nowMs);
    if (status === Status.BAD_KEY) return status;
    return status === Status.OK ? Status.EXISTS : this.#put(key, value, nowMs, ttlMs, false);
  }

  /**
   * Sets a value if the key has that version, which GET and SET have shown.
   *
   * @returns what {@link set} does; EXISTS when it has another version, NOT_FOUND when it is not there
   */
  cas(key: Span, value: Span, version: bigint, nowMs: number, ttlMs = 0): Status {
    const status = this.#find(key, nowMs);
    if (status !== Status.OK) return status;
    return this.entry.version === version ? this.#put(key, value, nowMs, ttlMs, true) : Status.EXISTS;
  }

  /** @param version that the entry must have; 0 for any. @returns OK, NOT_FOUND, BAD_KEY; EXISTS when it has another version */
  delete(key: Span, nowMs: number, version = 0n): Status {
    const status = this.#find(key, nowMs);
    if (status === Status.OK && version !== 0n && this.entry.version !== version) return Status.EXISTS;
    if (status === Status.OK) {
      this.changes?.changing(key, this.entry);
      this.#storage.remove(Cause.DELETED);
      this.changes?.deleted(key);
    } else if (status === Status.NOT_FOUND && this.mode === 'cache') {
      // It may have been evicted, of which nobody was told: it must not come back.
      this.changes?.changing(key, undefined);
      this.changes?.deleted(key);
    }
    return status;
  }

  /**
   * Adds to the number that a value is, by the rules of Redis: a signed integer of 64 bits in decimal text, without blanks, plus or leading zeros; a key that
   * is not there counts as 0; it lives as long as before. The text of the sum is the value of {@link entry}.
   *
   * @param delta 64 bits, signed; less than 0 to take away
   * @returns OK; NOT_A_NUMBER; OVERFLOW when the sum, or `delta`, does not fit; NO_SPACE, BAD_KEY; unless OK nothing has changed
   */
  incr(key: Span, delta: bigint, nowMs: number): Status {
    const status = this.#find(key, nowMs);
    if (status === Status.BAD_KEY) return status;
    const { entry } = this;
    const isThere = status === Status.OK;
    const before = isThere ? parseInteger(new Span(entry.bytes, entry.valueAt, entry.valueLength)) : 0n;
    if (before === undefined) return Status.NOT_A_NUMBER;
    if (!isInteger(delta) || !isInteger(before + delta)) return Status.OVERFLOW;
    const ttlMs = isThere && entry.expiresAtMs !== 0 ? entry.expiresAtMs - nowMs : 0;
    return this.#put(key, new Span(formatInteger(before + delta)), nowMs, ttlMs, isThere);
  }

  /**
   * Sets how long a key lives from now on; its version stays.
   *
   * @param ttlMs 0: for ever
   * @returns OK, NOT_FOUND, BAD_KEY
   */
  touch(key: Span, ttlMs: number, nowMs: number): Status {
    const status = this.#find(key, nowMs);
    this.#stamp.expireIn(ttlMs, nowMs);
    if (status !== Status.OK) return status;
    this.changes?.changing(key, this.entry);
    this.entry.expireAt(this.#stamp.expiresAtMs);
    if (this.#stamp.expiresAtMs !== 0) this.#unswept = this.buckets;
    this.changes?.touched(this.entry);
    return status;
  }

  /**
   * Shows entries, in no order: whole buckets until there are `count` or more. Whoever begins with cursor 0 and goes on with what comes back until that is 0 meets every
   * key that was there all the time, once, whatever has been set and deleted in between.
   *
   * @param cursor what the last call returned; any other number from 0 on does no harm
   * @param visit is shown an entry, and may not call the partition
   * @returns where to go on; 0 when that was all
   */
  scan(cursor: number, count: number, nowMs: number, visit: (entry: EntryView) => void): number {
    let shown = 0;
    let at = cursor;
    for (; at < this.buckets && shown < count; at += 1)
      this.eachOf(at, nowMs, (entry) => {
        shown += 1;
        visit(entry);
      });
    return at < this.buckets ? at : 0;
  }

  /** In how many buckets the keys are: a key stays in the same one. */
  get buckets(): number {
    return this.#storage.buckets;
  }

  /** The first bucket from that on which has entries; {@link buckets} when there is none. */
  nextOccupied(from: number): number {
    return this.#storage.nextOccupied(from);
  }

  /** The buckets, 64 bytes each, as one-sided READs may read them. */
  get bucketMemory(): Uint8Array {
    return this.#storage.bucketMemory;
  }

  /** Shows the entries of one bucket, in no order. @param bucket from 0 on. @param visit as of {@link scan} */
  eachOf(bucket: number, nowMs: number, visit: (entry: EntryView) => void): void {
    this.#storage.eachOf(bucket, (entry) => {
      if (!entry.isExpired(nowMs)) visit(entry);
    });
  }

  /**
   * Ends keys whose time has come in the next buckets, where the last sweep has stopped. Call it now and then: else keys that nobody asks for stay in memory.
   *
   * @param buckets how many are looked at; the work is bounded by that
   * @returns keys that were ended
   */
  sweep(buckets: number, nowMs: number): number {
    this.#nowMs = nowMs;
    const before = this.statistics.expirations;
    const mortals = this.#storage.sweep(buckets, nowMs);
    this.#unswept = mortals > 0 ? this.buckets : Math.max(0, this.#unswept - buckets);
    return this.statistics.expirations - before;
  }

  /** Whether there may be keys that will expire; false is for sure. */
  get mayExpire(): boolean {
    return this.#unswept > 0;
  }

  /** Whether a key is there, or why not, as far as is remembered. An empty or too long key was never there. */
  explain(key: Span, nowMs: number): Explanation {
    const status = this.#find(key, nowMs);
    if (status === Status.OK) {
      const { version, expiresAtMs } = this.entry;
      return { is: 'present', version, expiresAtMs };
    }
    const obituary = status === Status.BAD_KEY ? undefined : this.#obituaries.of(this.#hash);
    if (obituary === undefined || obituary === 'other') return { is: 'never', isCertain: obituary === undefined };
    return GONE[obituary.cause](obituary.whenMs);
  }

  /**
   * Puts an entry back as it was, with its version, in place of what is there, and tells nobody.
   *
   * @param version 64 bits. @param expiresAtMs by the clock of `nowMs`; 0: never
   * @returns false when there is no room; then nothing has changed
   */
  restore(key: Span, value: Span, version: bigint, expiresAtMs: number): boolean {
    const earlier = this.#earlier;
    earlier.continueAfter(version - 1n);
    earlier.nextVersion();
    earlier.expiresAtMs = expiresAtMs;
    if (expiresAtMs !== 0) this.#unswept = this.buckets;
    this.#storage.find(key);
    return this.#storage.put(key, value, earlier);
  }

  /** Takes an entry away as if it had never been there, and tells nobody. */
  forget(key: Span): void {
    if (this.#storage.find(key)) this.#storage.remove(Cause.DELETED);
  }

  get lastVersion(): bigint {
    return this.#stamp.version;
  }

  /** From now on versions come after that one. @param version 64 bits, not less than {@link lastVersion} */
  continueAfter(version: bigint): void {
    this.#stamp.continueAfter(version);
  }

  /** Finds a key that has not expired, and ends one that has. */
  #find(key: Span, nowMs: number): Status {
    this.#nowMs = nowMs;
    if (key.length < 1 || key.length > MAX_KEY_BYTES) return Status.BAD_KEY;
    if (!this.#storage.find(key)) return Status.NOT_FOUND;
    if (!this.entry.isExpired(nowMs)) return Status.OK;
    this.#storage.remove(Cause.EXPIRED);
    return Status.NOT_FOUND;
  }

  /** Puts a value under the key that was looked for last. @param isThere whether it was found */
  #put(key: Span, value: Span, nowMs: number, ttlMs: number, isThere: boolean): Status {
    if (value.length > this.maxValueBytes) return Status.TOO_LARGE;
    this.changes?.changing(key, isThere ? this.entry : undefined);
    this.#stamp.nextVersion();
    this.#stamp.expireIn(ttlMs, nowMs);
    if (!this.#storage.put(key, value, this.#stamp) && !this.#rescue(key, value)) {
      this.statistics.refusals += 1;
      return Status.NO_SPACE;
    }
    this.statistics.sets += 1;
    if (this.#stamp.expiresAtMs !== 0) this.#unswept = this.buckets;
    this.changes?.set(this.entry);
    return Status.OK;
  }

  /** Tries once more, without what has expired nearby. */
  #rescue(key: Span, value: Span): boolean {
    return this.sweep(RESCUE_BUCKETS, this.#nowMs) > 0 && this.#storage.put(key, value, this.#stamp);
  }

  /** An entry ends, whose key was hashed last. What has expired has gone then, whenever that is noticed. */
  #onEnded(entry: EntryView, why: Cause): void {
    const cause = entry.isExpired(this.#nowMs) ? Cause.EXPIRED : why;
    this.statistics[COUNTERS[cause]] += 1;
    const obituaries = this.#obituaries;
    const place = obituaries.record(this.#hash, cause);
    if (cause === Cause.EXPIRED) obituaries.whenMs[place] = entry.expiresAtMs;
    else obituaries.whenMs[place] = this.#nowMs;
  }
}
