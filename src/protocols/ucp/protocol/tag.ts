/** 64 bits, in two words of int32, which cost nothing to compare. */
export interface Tag {
  readonly high: number;
  readonly low: number;
}

export const FULL_MASK: Tag = { high: -1, low: -1 };

const WORD = 2 ** 32;

/** @param value 0 to 2^64 - 1, a number up to 2^53 - 1 */
export function tagOf(value: bigint | number): Tag {
  if (typeof value === 'number') return { high: Math.floor(value / WORD) | 0, low: value | 0 };
  return { high: Number(BigInt.asIntN(32, value >> 32n)), low: Number(BigInt.asIntN(32, value)) };
}

/** The tag that lies in a message, little-endian. It has 8 bytes from `at` on. */
export function tagIn(bytes: Uint8Array, at: number): Tag {
  return { low: wordIn(bytes, at), high: wordIn(bytes, at + 4) };
}

/** Byte by byte: to make a view of them costs more. */
function wordIn(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
}

export function tagValue({ high, low }: Tag): bigint {
  if (high === 0) return BigInt(low >>> 0);
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

/** Whether tags are equal in the bits that count. */
export function tagsMatch(one: Tag, other: Tag, mask: Tag): boolean {
  return ((one.high ^ other.high) & mask.high) === 0 && ((one.low ^ other.low) & mask.low) === 0;
}

export function isFull({ high, low }: Tag): boolean {
  return (high & low) === -1;
}
