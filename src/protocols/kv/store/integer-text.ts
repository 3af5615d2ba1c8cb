import type { Span } from './span.js';

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
export function isInteger(integer: bigint): boolean {
  return integer >= MIN && integer <= MAX;
}

export function formatInteger(integer: bigint): Uint8Array {
  return Uint8Array.from(String(integer), (digit) => digit.charCodeAt(0));
}
