import { BUCKET_BYTES, MAX_COUNT, MAX_MEMORY, MIN_ENTRY_BYTES } from '../store/index.js';

// What LAYOUT answers (protocol/kv.md 6.9): what a client has to know that reads the server's memory by itself.

/** Of buckets and entries as they lie in memory. */
const VERSION = 1;
const LAYOUT_BYTES = 56;
/** The latest time that an entry has room for. */
const LATEST_MS = 2 ** 48 - 1;

/** Memory that may be read. */
export interface ReadableMemory {
  readonly addr: bigint;
  readonly rkey: number;
  readonly bytes: number;
}

/** Where a store lies, and how a key is found in it. */
export interface Layout {
  readonly buckets: ReadableMemory;
  readonly entries: ReadableMemory;
  /** Of the hash of keys, 64 bits. */
  readonly seed: bigint;
  /** By the clock that entries expire by, in milliseconds. */
  readonly nowMs: number;
}

export function encodeLayout({ buckets, entries, seed, nowMs }: Layout): Uint8Array {
  const bytes = new Uint8Array(LAYOUT_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, VERSION);
  view.setUint32(4, buckets.bytes / BUCKET_BYTES);
  view.setBigUint64(8, buckets.addr);
  view.setUint32(16, buckets.rkey);
  view.setUint32(20, entries.rkey);
  view.setBigUint64(24, entries.addr);
  view.setBigUint64(32, seed);
  view.setBigUint64(40, BigInt(nowMs));
  view.setUint32(48, entries.bytes);
  return bytes;
}

/** @returns undefined for what is none, or none that this client can read */
export function decodeLayout(bytes: Uint8Array): Layout | undefined {
  if (bytes.length < LAYOUT_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const buckets = view.getUint32(4);
  const entryBytes = view.getUint32(48);
  const nowMs = view.getBigUint64(40);
  if (view.getUint32(0) !== VERSION || !isPowerOfTwo(buckets) || buckets > MAX_COUNT) return undefined;
  if (entryBytes < MIN_ENTRY_BYTES || entryBytes > MAX_MEMORY || nowMs > LATEST_MS) return undefined;
  return {
    buckets: { addr: view.getBigUint64(8), rkey: view.getUint32(16), bytes: buckets * BUCKET_BYTES },
    entries: { addr: view.getBigUint64(24), rkey: view.getUint32(20), bytes: entryBytes },
    seed: view.getBigUint64(32),
    nowMs: Number(nowMs),
  };
}

function isPowerOfTwo(count: number): boolean {
  return count > 0 && (count & (count - 1)) === 0;
}
