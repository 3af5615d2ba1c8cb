import { be53, oneOf, struct, u8 } from '../../../device/wire/index.js';

// What EXPLAIN and TTL answer (protocol/kv.md 6.3). Times are told as how long it is until then, or since: whose clock they are by makes no difference.

/** What is known of a key. The numbers are said on the wire. */
export const KeyStatus = {
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
export type KeyStatus = (typeof KeyStatus)[keyof typeof KeyStatus];

const KEY_STATUS = struct({ keyStatus: oneOf(u8, KeyStatus), ms: be53 });
const TIME_LEFT = struct({ ms: be53 });

/** @param ms of a key that is there, how long it has to live, 0 for ever; of one that has gone, how long ago that was; otherwise 0 */
export function encodeKeyStatus(keyStatus: KeyStatus, ms: number): Uint8Array {
  return KEY_STATUS.encode({ keyStatus, ms });
}

/** The same; undefined for what is none. */
export function decodeKeyStatus(bytes: Uint8Array): { readonly keyStatus: KeyStatus; readonly ms: number } | undefined {
  const said = bytes.length === KEY_STATUS.bytes ? KEY_STATUS.decode(bytes) : '';
  return typeof said === 'string' ? undefined : said;
}

/** @param ms how long an entry has to live; 0 for ever */
export function encodeTimeLeft(ms: number): Uint8Array {
  return TIME_LEFT.encode({ ms });
}

/** The same; undefined for what is none. */
export function decodeTimeLeft(bytes: Uint8Array): number | undefined {
  const said = bytes.length === TIME_LEFT.bytes ? TIME_LEFT.decode(bytes) : '';
  return typeof said === 'string' ? undefined : said.ms;
}
