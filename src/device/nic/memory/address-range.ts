/** Ranges of 64-bit addresses. An address comes as two words, since a bigint would be allocated for each packet. */

const TWO_32 = 2 ** 32;

/**
 * Where the range of `lengthBytes` at the 64-bit address lies, counted from the beginning of the `spanBytes` at `start`;
 * -1 when it is not all inside.
 *
 * The difference of two addresses as a double is exact up to 2^53, beyond which it is outside of any memory anyway, so
 * no address and no length can wrap around the check.
 */
export function locateRange(
  addrHi: number,
  addrLo: number,
  lengthBytes: number,
  startHi: number,
  startLo: number,
  spanBytes: number,
): number {
  const offset = ((addrHi >>> 0) - (startHi >>> 0)) * TWO_32 + ((addrLo >>> 0) - (startLo >>> 0));
  return offset >= 0 && lengthBytes <= spanBytes - offset ? offset : -1;
}

/** Bytes from the 64-bit address to the end of the address space; exact wherever it is less than any memory's length. */
export function bytesToEnd(addrHi: number, addrLo: number): number {
  return (TWO_32 - (addrHi >>> 0)) * TWO_32 - (addrLo >>> 0);
}
