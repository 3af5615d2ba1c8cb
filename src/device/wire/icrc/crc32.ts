/** CRC-32 (IEEE 802.3, reflected polynomial 0xEDB88320) and the arithmetic of its field. */

/**
 * Continues a CRC-32 over `length` bytes. `crc` and the result are zlib-style running values, signed: 0 to begin with,
 * complemented inside. Hosts may have a faster one than {@link crc32} for long inputs.
 */
export type Crc32 = (bytes: Uint8Array, offset: number, length: number, crc: number) => number;

const POLYNOMIAL = 0xedb88320 | 0;
/** The polynomial 1 in reflected order. */
const ONE = 0x80000000 | 0;
/** The inverse of x: a shift to the right takes it to {@link ONE}. */
const X_INVERSE = 0xdb710641 | 0;

const SLICES = 8;

/** Entry `256 * k + b`: what byte `b` adds to the register once `k` more bytes have followed. */
const TABLE = new Int32Array(256 * SLICES);
for (let byte = 0; byte < 256; byte += 1) {
  let register = byte;
  for (let bit = 0; bit < 8; bit += 1) register = (register >>> 1) ^ (POLYNOMIAL & -(register & 1));
  TABLE[byte] = register;
}
for (let i = 256; i < TABLE.length; i += 1) TABLE[i] = (TABLE[i - 256] >>> 8) ^ TABLE[TABLE[i - 256] & 0xff];

/** CRC-32 in plain TypeScript, eight bytes a step. */
export function crc32(bytes: Uint8Array, offset: number, length: number, crc: number): number {
  const table = TABLE;
  let register = ~crc;
  let at = offset;
  const end = offset + length;
  const slicedEnd = end - (SLICES - 1);
  while (at < slicedEnd) {
    register ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    register =
      table[1792 + (register & 0xff)] ^
      table[1536 + ((register >>> 8) & 0xff)] ^
      table[1280 + ((register >>> 16) & 0xff)] ^
      table[1024 + (register >>> 24)] ^
      // Bracketed, since these do not wait for the register.
      (table[768 + bytes[at + 4]] ^ table[512 + bytes[at + 5]] ^ table[256 + bytes[at + 6]] ^ table[bytes[at + 7]]);
    at += SLICES;
  }
  // RoCE packets consist of four-byte words, so what is left is mostly one of them.
  if (at + 3 < end) {
    register ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    register =
      table[768 + (register & 0xff)] ^
      table[512 + ((register >>> 8) & 0xff)] ^
      table[256 + ((register >>> 16) & 0xff)] ^
      table[register >>> 24];
    at += 4;
  }
  while (at < end) {
    register = (register >>> 8) ^ table[(register ^ bytes[at]) & 0xff];
    at += 1;
  }
  return ~register;
}

/** The product of two polynomials in reflected order, modulo the CRC's. */
export function multiply(a: number, b: number): number {
  let product = 0;
  let factor = a;
  let shifted = b;
  for (let i = 0; i < 32; i += 1) {
    product ^= shifted & (factor >> 31);
    factor <<= 1;
    shifted = (shifted >>> 1) ^ (POLYNOMIAL & -(shifted & 1));
  }
  return product;
}

/** Entry k: x to the power of -8 * 2^k, which takes a register back over 2^k zero bytes. */
const BACK_POWERS = new Int32Array(20);
{
  let power = X_INVERSE;
  for (let i = 0; i < 3; i += 1) power = multiply(power, power);
  for (let k = 0; k < BACK_POWERS.length; k += 1) {
    BACK_POWERS[k] = power;
    power = multiply(power, power);
  }
}

/** The factor that takes a CRC register back over `count` zero bytes; `count` is below 2^20. */
export function stepBackFactor(count: number): number {
  let factor = ONE;
  for (let k = 0, rest = count; rest !== 0; k += 1, rest >>>= 1) {
    if ((rest & 1) !== 0) factor = multiply(factor, BACK_POWERS[k]);
  }
  return factor;
}

/** What one byte adds to the running value when `after` more bytes follow it, for each of the 256 bytes. */
export function contributionTable(after: number): Int32Array {
  const contributions = TABLE.slice(0, 256);
  for (let i = 0; i < after; i += 1) {
    for (let byte = 0; byte < 256; byte += 1) {
      const register = contributions[byte];
      contributions[byte] = (register >>> 8) ^ TABLE[register & 0xff];
    }
  }
  return contributions;
}
