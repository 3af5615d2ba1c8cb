// An entry in memory, little-endian, at a multiple of 8:
//
//    0  version, 8 bytes
//    8  when it expires, in milliseconds, 6 bytes; 0 is never
//   14  state, 1 byte
//   15  bytes of the key, 1 byte
//   16  bytes of the value, 4 bytes
//   20  check, 4 bytes
//   24  key, value, zeros up to a multiple of 8
//  end  version, 8 bytes
//
// A reader by RDMA READ sees memory while it is written. The version stands at both ends, and is written at the end first and at the
// beginning last; so whoever reads upwards finds two versions when it has read a mixture. Adapters copy as they like, also downwards, so the
// check covers the rest: it begins with a number that only the partition and those who may read it know, and with the entry's position, so that
// what a value holds passes for no entry, nor does an entry where another lies.
import type { Span } from './span.js';
import type { Stamp } from './stamp.js';

export const MAX_KEY_BYTES = 250;
/** Entries begin at multiples of it, and are as long. */
export const ALIGNMENT = 8;

const STATE = 14;
const KEY_LENGTH = 15;
const VALUE_LENGTH = 16;
const CHECK = 20;
const HEADER = 24;
const TAIL = 8;

const State = {
  LIVE: 1,
  DEAD: 2,
} as const;

export const Reading = {
  OK: 'ok',
  /** It was being written meanwhile: read it again. */
  TORN: 'torn',
  /** It is no more, or another lies there: ask the server. */
  GONE: 'gone',
  EXPIRED: 'expired',
} as const;
export type Reading = (typeof Reading)[keyof typeof Reading];

/** Bytes that an entry takes, in memory and in a READ. */
export function entryBytes(keyLength: number, valueLength: number): number {
  return HEADER + roundUp(keyLength + valueLength) + TAIL;
}

function roundUp(length: number): number {
  return (length + ALIGNMENT - 1) & -ALIGNMENT;
}

export const MIN_ENTRY_BYTES: number = entryBytes(1, 0);

/**
 * A window onto the entry that lies at `at` of some memory: that of a partition, or what a one-sided READ of it has brought. It reads memory whenever it is
 * asked, and holds nothing.
 */
export class EntryView {
  /** Where the entry begins: a multiple of 8. */
  at = 0;
  readonly #words: Int32Array;
  /** The same, 8 bytes each: of a number of 64 bits made of two others V8 would make four. */
  readonly #longs: BigUint64Array;

  /**
   * @param bytes at an address that is a multiple of 8 in its buffer
   * @param salt 32 bits with which checks begin
   */
  constructor(
    readonly bytes: Uint8Array,
    private readonly salt = 0,
  ) {
    this.#words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
    this.#longs = new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 3);
  }

  /** All bytes that the entry takes: what a one-sided READ asks for, from {@link at} on. */
  get byteLength(): number {
    return entryBytes(this.keyLength, this.valueLength);
  }

  get keyAt(): number {
    return this.at + HEADER;
  }

  get keyLength(): number {
    return this.bytes[this.at + KEY_LENGTH];
  }

  get valueAt(): number {
    return this.at + HEADER + this.keyLength;
  }

  get valueLength(): number {
    return this.#words[(this.at + VALUE_LENGTH) >> 2] >>> 0;
  }

  /** Its lower 32 bits, signed: nothing is allocated, as it is for {@link version}. */
  get versionLow(): number {
    return this.#words[this.at >> 2];
  }

  /** Its upper 32 bits, signed. */
  get versionHigh(): number {
    return this.#words[(this.at >> 2) + 1];
  }

  /** 64 bits. No two values of a partition ever have the same. */
  get version(): bigint {
    return this.#longs[this.at >> 3];
  }

  /** By the partition's clock; 0: never. */
  get expiresAtMs(): number {
    const words = this.at >> 2;
    return (this.#words[words + 2] >>> 0) + (this.#words[words + 3] & 0xffff) * 2 ** 32;
  }

  get isLive(): boolean {
    return this.bytes[this.at + STATE] === State.LIVE;
  }

  isExpired(nowMs: number): boolean {
    // Not by expiresAtMs: what a call returns is an object to V8, unless it fits into 31 bits.
    const words = this.at >> 2;
    const at = (this.#words[words + 2] >>> 0) + (this.#words[words + 3] & 0xffff) * 2 ** 32;
    return at !== 0 && at <= nowMs;
  }

  /** Whether it was written before another of the same partition. */
  isOlderThan(other: EntryView): boolean {
    const high = this.versionHigh >>> 0;
    const otherHigh = other.versionHigh >>> 0;
    return high < otherHigh || (high === otherHigh && this.versionLow >>> 0 < other.versionLow >>> 0);
  }

  hasVersion(low: number, high: number): boolean {
    return this.versionLow === low && this.versionHigh === high;
  }

  hasKey(key: Span): boolean {
    if (this.keyLength !== key.length) return false;
    const at = this.keyAt;
    for (let i = 0; i < key.length; i += 1) if (this.bytes[at + i] !== key.bytes[key.at + i]) return false;
    return true;
  }

  key(): Uint8Array {
    return this.bytes.subarray(this.keyAt, this.keyAt + this.keyLength);
  }

  value(): Uint8Array {
    return this.bytes.subarray(this.valueAt, this.valueAt + this.valueLength);
  }

  /** Copies the value; of a short one nothing is allocated. @returns its bytes */
  copyValue(target: Uint8Array, targetAt = 0): number {
    const length = this.valueLength;
    copy(this.bytes, this.valueAt, target, targetAt, length);
    return length;
  }

  /** Writes an entry here, where {@link entryBytes} are free. */
  write(key: Span, value: Span, { versionLow, versionHigh, expiresAtMs }: Stamp): void {
    const { at } = this;
    const words = at >> 2;
    const end = at + HEADER + key.length + value.length;
    const tail = at + HEADER + roundUp(key.length + value.length);
    this.#words[(tail >> 2) + 1] = versionHigh;
    this.#words[tail >> 2] = versionLow;
    this.bytes.fill(0, end, tail);
    copy(value.bytes, value.at, this.bytes, at + HEADER + key.length, value.length);
    copy(key.bytes, key.at, this.bytes, at + HEADER, key.length);
    this.#words[words + 2] = expiresAtMs | 0;
    this.#words[words + 3] = (key.length << 24) | (State.LIVE << 16) | Math.floor(expiresAtMs / 2 ** 32);
    this.#words[(at + VALUE_LENGTH) >> 2] = value.length;
    this.#words[words] = versionLow;
    this.#words[words + 1] = versionHigh;
    this.#words[(at + CHECK) >> 2] = this.#checkOfHeader(at) ^ this.#checkOfBody(tail);
  }

  /** Says that it is no more, to those who read it one-sided, too. */
  kill(): void {
    this.bytes[this.at + STATE] = State.DEAD;
  }

  /** Sets when it expires, and nothing else. */
  expireAt(expiresAtMs: number): void {
    const words = this.at >> 2;
    const before = this.#checkOfHeader(this.at);
    this.#words[words + 2] = expiresAtMs | 0;
    this.#words[words + 3] = (this.#words[words + 3] & ~0xffff) | Math.floor(expiresAtMs / 2 ** 32);
    this.#words[(this.at + CHECK) >> 2] ^= before ^ this.#checkOfHeader(this.at);
  }

  /**
   * What was read here, once all has been copied: for memory that others write. Whatever it holds, nothing outside of it is looked at.
   *
   * @param nowMs by the partition's clock
   * @param position where it lay in the partition's memory
   * @param room bytes that were read
   */
  verify(key: Span, nowMs: number, position = this.at, room = this.bytes.length - this.at): Reading {
    const { at } = this;
    if (room < MIN_ENTRY_BYTES || !this.isLive) return Reading.GONE;
    // Of another length: it is another entry, or a part of one.
    if (this.valueLength > room || this.byteLength > room || !this.hasKey(key)) return Reading.GONE;
    const tail = at + this.byteLength - TAIL;
    if (!this.hasVersion(this.#words[tail >> 2], this.#words[(tail >> 2) + 1])) return Reading.TORN;
    if (this.#words[(at + CHECK) >> 2] !== (this.#checkOfHeader(position) ^ this.#checkOfBody(tail)))
      return Reading.TORN;
    return this.isExpired(nowMs) ? Reading.EXPIRED : Reading.OK;
  }

  #checkOfHeader(position: number): number {
    const words = this.at >> 2;
    let check = this.salt ^ position;
    for (let i = words; i < words + 5; i += 1) check = mix(check, this.#words[i]);
    return check;
  }

  #checkOfBody(tail: number): number {
    let check = 0;
    for (let i = (this.at + HEADER) >> 2; i < tail >> 2; i += 1) check = mix(check, this.#words[i]);
    return check;
  }
}

/** No protection from forgers, who may write what they like anyway: it tells mixtures. */
function mix(check: number, word: number): number {
  const mixed = Math.imul(check ^ word, 0x9e3779b1 | 0);
  return mixed ^ (mixed >>> 15);
}

/** From here on a copy by the runtime is worth the view that it takes. */
const LONG = 128;

function copy(source: Uint8Array, sourceAt: number, target: Uint8Array, targetAt: number, length: number): void {
  if (length >= LONG) target.set(source.subarray(sourceAt, sourceAt + length), targetAt);
  else for (let i = 0; i < length; i += 1) target[targetAt + i] = source[sourceAt + i];
}
