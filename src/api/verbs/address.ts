/**
 * A virtual address, 0 to 2^64 - 1. A number must be a safe integer, which every user-space address of today's
 * machines is.
 */
export type Address = bigint | number;

/** A work request's id: 64 bits that come back in its completion. A number must be a safe integer. */
export type WrId = bigint | number;

const wide = new BigUint64Array(1);
const words = new Int32Array(wide.buffer);
const LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;
const LOW_WORD = LITTLE_ENDIAN ? 0 : 1;
const TWO_32 = 2 ** 32;

/** Bits 31..0 of an address or id, as int32. Allocates nothing. */
export function lowWord(value: bigint | number): number {
  if (typeof value === 'number') return value | 0;
  wide[0] = value;
  return words[LOW_WORD];
}

/** Bits 63..32 of an address or id, as int32. Allocates nothing. */
export function highWord(value: bigint | number): number {
  if (typeof value === 'number') return Math.floor(value / TWO_32) | 0;
  wide[0] = value;
  return words[1 - LOW_WORD];
}

/** The 64-bit unsigned number of two words. */
export function joinWords(high: number, low: number): bigint {
  words[LOW_WORD] = low;
  words[1 - LOW_WORD] = high;
  return wide[0];
}

/** As {@link joinWords}, as a number: exact below 2^53, rounded above. */
export function joinWordsNumber(high: number, low: number): number {
  return (high >>> 0) * TWO_32 + (low >>> 0);
}

/** Whether `value` can be an address. */
export function isAddress(value: unknown): value is Address {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  return typeof value === 'bigint' && value >= 0n && value <= 0xffff_ffff_ffff_ffffn;
}

/** Whether `value` can be a work request's id. A negative one comes back as its 64-bit unsigned equal. */
export function isWrId(value: unknown): value is WrId {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return typeof value === 'bigint' && value >= -0x8000_0000_0000_0000n && value <= 0xffff_ffff_ffff_ffffn;
}

/** Whether `value` is an unsigned number of 32 bits: a key, a length, immediate data. */
export function isU32(value: unknown): value is number {
  return typeof value === 'number' && value >>> 0 === value;
}
