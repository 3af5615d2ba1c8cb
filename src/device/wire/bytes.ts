/**
 * Big-endian integers in byte arrays. Plain shifts rather than a DataView: packets lie at changing offsets of
 * changing arrays, and making a view for each of them would allocate on the hot path.
 */

/** The bytes as a view. */
export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

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
