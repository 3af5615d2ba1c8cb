import { be32, be53, be64, constant, only, range, struct } from '../../../device/wire/index.js';
import { BUCKET_BYTES, MAX_COUNT, MAX_MEMORY, MIN_ENTRY_BYTES } from '../store/index.js';

// What LAYOUT answers (protocol/kv.md 6.9): what a client has to know that reads the server's memory by itself.

/** Of buckets and entries as they lie in memory. */
const VERSION = 1;
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

const LAYOUT = struct(
  {
    version: constant(be32, VERSION, () => 'another version'),
    count: only(be32, (count) => isPowerOfTwo(count) && count <= MAX_COUNT, 'which cannot be'),
    bucketsAddr: be64,
    bucketsRkey: be32,
    entriesRkey: be32,
    entriesAddr: be64,
    seed: be64,
    nowMs: range(be53, 0, LATEST_MS),
    entryBytes: range(be32, MIN_ENTRY_BYTES, MAX_MEMORY),
  },
  56,
);

export function encodeLayout({ buckets, entries, seed, nowMs }: Layout): Uint8Array {
  return LAYOUT.encode({
    count: buckets.bytes / BUCKET_BYTES,
    bucketsAddr: buckets.addr,
    bucketsRkey: buckets.rkey,
    entriesRkey: entries.rkey,
    entriesAddr: entries.addr,
    seed,
    nowMs,
    entryBytes: entries.bytes,
  });
}

/** @returns undefined for what is none, or none that this client can read */
export function decodeLayout(bytes: Uint8Array): Layout | undefined {
  const layout = LAYOUT.decode(bytes);
  if (typeof layout === 'string') return undefined;
  const { count, bucketsAddr, bucketsRkey, entriesRkey, entriesAddr, seed, nowMs, entryBytes } = layout;
  return {
    buckets: { addr: bucketsAddr, rkey: bucketsRkey, bytes: count * BUCKET_BYTES },
    entries: { addr: entriesAddr, rkey: entriesRkey, bytes: entryBytes },
    seed,
    nowMs,
  };
}

function isPowerOfTwo(count: number): boolean {
  return count > 0 && (count & (count - 1)) === 0;
}
