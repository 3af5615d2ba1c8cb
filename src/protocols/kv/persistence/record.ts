// A record of a log or of a snapshot (protocol/kv.md 6.8), little-endian, at a multiple of 8:
//
//    0  check: CRC-32 of all that follows, begun with the file's salt; 4 bytes
//    4  bytes of the value; 4 bytes
//    8  sequence: one more with each record of a log; 8 bytes
//   16  kept: the sequence of the last record that was known to be on the disk when this one was written; 8 bytes
//   24  version, 8 bytes
//   32  when the entry expires, in milliseconds since 1970, 6 bytes; 0 is never
//   38  kind, 1 byte
//   39  bytes of the key, 1 byte
//   40  key, value, zeros up to a multiple of 8
import { runtime } from '../../../api/runtime/index.js';
import { type EntryView, MAX_KEY_BYTES } from '../store/index.js';

export const RECORD_HEAD_BYTES = 40;
export const RECORD_ALIGNMENT = 8;
const FIRST_BYTES = 1 << 16;
/** Of a buffer that one long value has made large no more is kept. */
const MOST_KEPT_BYTES = 1 << 20;
const CHECK_BYTES = 4;
const TWO_32 = 2 ** 32;
const NO_BYTES: Uint8Array = new Uint8Array(0);

/** What a record says. The numbers are in files, and do not change. */
export const RecordKind = {
  /** The key has that value, version and expiry. */
  SET: 1,
  DELETE: 2,
  /** The key expires then; all else stays. */
  TOUCH: 3,
  /** A snapshot is complete; the version is the last that was given. */
  END: 4,
} as const;
export type RecordKind = (typeof RecordKind)[keyof typeof RecordKind];

const KINDS: readonly number[] = Object.values(RecordKind);

export function recordBytes(keyLength: number, valueLength: number): number {
  return RECORD_HEAD_BYTES + keyLength + valueLength + (-(keyLength + valueLength) & (RECORD_ALIGNMENT - 1));
}

/** What a record holds beside what its file and its place give. */
export interface RecordContent {
  readonly kind: RecordKind;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly versionLow: number;
  readonly versionHigh: number;
  readonly expiresAtMs: number;
}

/** Records that are not written yet, one after the other. */
export class RecordBuffer {
  #bytes = new Uint8Array(FIRST_BYTES);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  count = 0;

  get byteLength(): number {
    return this.#length;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  addEntry(entry: EntryView, salt: number, sequence: number, kept: number): void {
    const { bytes, keyLength, valueLength, keyAt } = entry;
    const at = this.#reserve(keyLength, valueLength);
    this.#bytes.set(bytes.subarray(keyAt, keyAt + keyLength + valueLength), at + RECORD_HEAD_BYTES);
    this.#head(at, RecordKind.SET, keyLength, valueLength, entry.versionLow, entry.versionHigh, entry.expiresAtMs);
    this.#seal(at, salt, sequence, kept);
  }

  /** Appends a record without a value. */
  addKey(kind: RecordKind, key: Uint8Array, expiresAtMs: number, salt: number, sequence: number, kept: number): void {
    const at = this.#reserve(key.length, 0);
    this.#bytes.set(key, at + RECORD_HEAD_BYTES);
    this.#head(at, kind, key.length, 0, 0, 0, expiresAtMs);
    this.#seal(at, salt, sequence, kept);
  }

  /** Appends what says that a snapshot is complete. */
  addEnd(lastVersion: bigint, salt: number, sequence: number): void {
    const at = this.#reserve(0, 0);
    this.#head(at, RecordKind.END, 0, 0, 0, 0, 0);
    this.#view.setBigUint64(at + 24, lastVersion, true);
    this.#seal(at, salt, sequence, 0);
  }

  /** Takes the last record away, which begins there. */
  cut(at: number): void {
    this.#length = at;
    this.count -= 1;
  }

  clear(): void {
    this.#length = 0;
    this.count = 0;
    if (this.#bytes.length > MOST_KEPT_BYTES) this.#resize(FIRST_BYTES);
  }

  #reserve(keyLength: number, valueLength: number): number {
    const at = this.#length;
    const end = at + recordBytes(keyLength, valueLength);
    if (end > this.#bytes.length) this.#resize(Math.max(end, 2 * this.#bytes.length));
    this.#length = end;
    this.count += 1;
    return at;
  }

  #resize(bytes: number): void {
    const before = this.bytes;
    this.#bytes = new Uint8Array(bytes);
    this.#bytes.set(before);
    this.#view = new DataView(this.#bytes.buffer);
  }

  #head(
    at: number,
    kind: RecordKind,
    keyLength: number,
    valueLength: number,
    versionLow: number,
    versionHigh: number,
    expiresAtMs: number,
  ): void {
    const view = this.#view;
    view.setUint32(at + 4, valueLength, true);
    view.setInt32(at + 24, versionLow, true);
    view.setInt32(at + 28, versionHigh, true);
    view.setUint32(at + 32, expiresAtMs % TWO_32, true);
    view.setUint16(at + 36, Math.floor(expiresAtMs / TWO_32), true);
    view.setUint8(at + 38, kind);
    view.setUint8(at + 39, keyLength);
    this.#bytes.fill(0, at + RECORD_HEAD_BYTES + keyLength + valueLength, this.#length);
  }

  #seal(at: number, salt: number, sequence: number, kept: number): void {
    const view = this.#view;
    setSafeInteger(view, at + 8, sequence);
    setSafeInteger(view, at + 16, kept);
    const from = at + CHECK_BYTES;
    view.setInt32(at, runtime().crc32(this.#bytes, from, this.#length - from, salt), true);
  }
}

function setSafeInteger(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % TWO_32, true);
  view.setUint32(at + 4, Math.floor(value / TWO_32), true);
}

/** Looks at one record after the other in memory that holds some of a file. */
export class RecordView implements RecordContent {
  kind: RecordKind = RecordKind.END;
  sequence = 0;
  kept = 0;
  versionLow = 0;
  versionHigh = 0;
  expiresAtMs = 0;
  byteLength = 0;
  /** Of what was looked at: true until the next record is. */
  key = NO_BYTES;
  value = NO_BYTES;

  get version(): bigint {
    return (BigInt(this.versionHigh >>> 0) << 32n) | BigInt(this.versionLow >>> 0);
  }

  /** How long the record is that begins at `at`, by what it says; undefined when there is none. Its head is there. */
  lengthAt(bytes: Uint8Array, at: number): number | undefined {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, RECORD_HEAD_BYTES);
    const kind = view.getUint8(38);
    const keyLength = view.getUint8(39);
    if (!KINDS.includes(kind) || keyLength > MAX_KEY_BYTES) return undefined;
    if ((keyLength === 0) !== (kind === RecordKind.END)) return undefined;
    return recordBytes(keyLength, view.getUint32(4, true));
  }

  /** The sequence that the record says it has, whether its check fits or not. Its head is there. */
  sequenceAt(bytes: Uint8Array, at: number): number {
    return safeInteger(new DataView(bytes.buffer, bytes.byteOffset + at, RECORD_HEAD_BYTES), 8);
  }

  /** Looks at the record of {@link lengthAt} bytes. @returns whether its check fits */
  look(bytes: Uint8Array, at: number, length: number, salt: number): boolean {
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, length);
    if (runtime().crc32(bytes, at + CHECK_BYTES, length - CHECK_BYTES, salt) !== view.getInt32(0, true)) return false;
    const keyLength = view.getUint8(39);
    const valueAt = at + RECORD_HEAD_BYTES + keyLength;
    // It is one of them: lengthAt has looked.
    this.kind = view.getUint8(38) as RecordKind;
    this.sequence = safeInteger(view, 8);
    this.kept = safeInteger(view, 16);
    this.versionLow = view.getInt32(24, true);
    this.versionHigh = view.getInt32(28, true);
    this.expiresAtMs = view.getUint32(32, true) + view.getUint16(36, true) * TWO_32;
    this.byteLength = length;
    this.key = bytes.subarray(valueAt - keyLength, valueAt);
    this.value = bytes.subarray(valueAt, valueAt + view.getUint32(4, true));
    return true;
  }
}

function safeInteger(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * TWO_32;
}
