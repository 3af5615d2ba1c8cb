/**
 * Big-endian integers in byte arrays. Plain shifts rather than a DataView: packets lie at changing offsets of
 * changing arrays, and making a view for each of them would allocate on the hot path.
 */

/** The 16-bit number at `offset`. */
export function getU16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] << 8) | bytes[offset + 1];
}

/** The 24-bit number at `offset`. */
export function getU24(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] << 16) | (bytes[offset + 1] << 8) | bytes[offset + 2];
}

/** The 32 bits at `offset` as a signed number, which V8 keeps unboxed more readily; `>>> 0` makes it unsigned. */
export function getU32(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] << 24) | (bytes[offset + 1] << 16) | (bytes[offset + 2] << 8) | bytes[offset + 3];
}

/** Writes the low 16 bits of `value`. */
export function putU16(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 8;
  bytes[offset + 1] = value;
}

/** Writes the low 24 bits of `value`. */
export function putU24(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 16;
  bytes[offset + 1] = value >>> 8;
  bytes[offset + 2] = value;
}

/** Writes the low 32 bits of `value`, signed or unsigned. */
export function putU32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 24;
  bytes[offset + 1] = value >>> 16;
  bytes[offset + 2] = value >>> 8;
  bytes[offset + 3] = value;
}
