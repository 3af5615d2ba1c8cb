/** In which order a host has the bytes of a number. */
export type ByteOrder = 'big' | 'little';

/** Memory of an end, as it tells the other: `struct rs_sge`. */
export interface Span {
  /** 64 bits. */
  readonly addr: bigint;
  /** R_Key, 32 bits. */
  readonly key: number;
  /** Bytes, 32 bits. */
  readonly length: number;
}

export const SPAN_BYTES = 16;

export function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

export function writeSpan(view: DataView, at: number, { addr, key, length }: Span, order: ByteOrder): void {
  const isLittle = order === 'little';
  view.setBigUint64(at, addr, isLittle);
  view.setUint32(at + 8, key, isLittle);
  view.setUint32(at + 12, length, isLittle);
}

export function readSpan(view: DataView, at: number, order: ByteOrder): Span {
  const isLittle = order === 'little';
  return {
    addr: view.getBigUint64(at, isLittle),
    key: view.getUint32(at + 8, isLittle),
    length: view.getUint32(at + 12, isLittle),
  };
}
