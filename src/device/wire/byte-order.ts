/** Integers of capture files, which come in the byte order of the machine that wrote them. */

/** The 16-bit number at `offset`. */
export function readU16(bytes: Uint8Array, offset: number, little: boolean): number {
  const a = bytes[offset];
  const b = bytes[offset + 1];
  return little ? a | (b << 8) : (a << 8) | b;
}

/** The 32-bit number at `offset`, unsigned. */
export function readU32(bytes: Uint8Array, offset: number, little: boolean): number {
  const first = readU16(bytes, offset, little);
  const second = readU16(bytes, offset + 2, little);
  return (little ? first | (second << 16) : (first << 16) | second) >>> 0;
}

/** Writes 16 bits, least significant byte first. */
export function putU16Le(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value;
  bytes[offset + 1] = value >>> 8;
}

/** Writes 32 bits, least significant byte first. */
export function putU32Le(bytes: Uint8Array, offset: number, value: number): void {
  putU16Le(bytes, offset, value);
  putU16Le(bytes, offset + 2, value >>> 16);
}
