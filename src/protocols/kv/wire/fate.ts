// What EXPLAIN and TTL answer (protocol/kv.md 6.3). Times are told as how long it is until then, or since: whose clock they are by makes no difference.

/** What is known of a key. The numbers are said on the wire. */
export const Fate = {
  PRESENT: 1,
  NEVER: 2,
  /** It was never there, or so long ago that others are remembered in its place. */
  UNKNOWN: 3,
  EXPIRED: 4,
  DELETED: 5,
  /** It was among the oldest, and the memory was needed. */
  EVICTED: 6,
  /** It was the oldest of its bucket, which was full. */
  CROWDED_OUT: 7,
} as const;
export type Fate = (typeof Fate)[keyof typeof Fate];

const FATES: readonly number[] = Object.values(Fate);
const FATE_BYTES = 9;
const TIME_BYTES = 8;

function isFate(fate: number): fate is Fate {
  return FATES.includes(fate);
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** @param ms of a key that is there, how long it has to live, 0 for ever; of one that has gone, how long ago that was; otherwise 0 */
export function encodeFate(fate: Fate, ms: number): Uint8Array {
  const bytes = new Uint8Array(FATE_BYTES);
  bytes[0] = fate;
  viewOf(bytes).setBigUint64(1, BigInt(ms));
  return bytes;
}

/** The same; undefined for what is none. */
export function decodeFate(bytes: Uint8Array): { readonly fate: Fate; readonly ms: number } | undefined {
  const [fate] = bytes;
  if (bytes.length !== FATE_BYTES || !isFate(fate)) return undefined;
  return { fate, ms: Number(viewOf(bytes).getBigUint64(1)) };
}

/** @param ms how long an entry has to live; 0 for ever */
export function encodeTimeLeft(ms: number): Uint8Array {
  const bytes = new Uint8Array(TIME_BYTES);
  viewOf(bytes).setBigUint64(0, BigInt(ms));
  return bytes;
}

/** The same; undefined for what is none. */
export function decodeTimeLeft(bytes: Uint8Array): number | undefined {
  return bytes.length === TIME_BYTES ? Number(viewOf(bytes).getBigUint64(0)) : undefined;
}
