import { be32, be64, struct, u32, u64 } from '../../../device/wire/index.js';

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

const SPANS = {
  big: struct({ addr: be64, key: be32, length: be32 }),
  little: struct({ addr: u64, key: u32, length: u32 }),
} as const;

export function writeSpan(view: DataView, at: number, span: Span, order: ByteOrder): void {
  SPANS[order].write(view, at, span);
}

export function readSpan(view: DataView, at: number, order: ByteOrder): Span {
  return SPANS[order].read(view, at);
}
