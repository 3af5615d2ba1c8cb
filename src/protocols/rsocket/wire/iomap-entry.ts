import { type ByteOrder, readSpan, type Span, viewOf, writeSpan } from './span.js';

/** A buffer that an end has mapped, in the table of its peer: `struct rs_iomap`. */
export interface IomapEntry {
  /** By which the peer names it, 64 bits. */
  readonly offset: bigint;
  readonly span: Span;
}

export const IOMAP_ENTRY_BYTES = 24;

/** @param order that of the host where it is written */
export function encodeIomapEntry({ offset, span }: IomapEntry, order: ByteOrder): Uint8Array {
  const bytes = new Uint8Array(IOMAP_ENTRY_BYTES);
  const view = viewOf(bytes);
  view.setBigUint64(0, offset, order === 'little');
  writeSpan(view, 8, span, order);
  return bytes;
}

/** @param order that of the host where it was written */
export function decodeIomapEntry(bytes: Uint8Array, order: ByteOrder): IomapEntry {
  const view = viewOf(bytes);
  return { offset: view.getBigUint64(0, order === 'little'), span: readSpan(view, 8, order) };
}
