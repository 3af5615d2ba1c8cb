import { viewOf, be32, be64, struct, u32, u64 } from '../../../device/wire/index.js';

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

// What both ends say of themselves in the private data of REQ and REP (protocol/rsockets.md 5.1).

/** The only version that there is. */
export const RSOCKET_VERSION = 1;
export const CONNECTION_DATA_BYTES = 40;

const VERSION_AT = 0;
const FLAGS_AT = 1;
const CREDITS_AT = 2;
const IOMAP_SIZE_AT = 7;
const TARGETS_AT = 8;
const DATA_AT = 24;

const Flags = {
  /** The host of the sender is big-endian. */
  BIG_ENDIAN: 0x01,
  IOMAP: 0x02,
} as const;

/** Above that a size is told in units of 256. */
const LITERAL_IOMAP_SIZE = 128;
const IS_SCALED = 0x80;

/** Entries of the largest table of mapped buffers. */
export const MAX_IOMAP_SIZE = 0x7f << 8;

export interface ConnectionData {
  readonly version: number;
  /** Of its host: what it is written, it expects in this order. */
  readonly byteOrder: ByteOrder;
  readonly hasIomap: boolean;
  /** Messages that it has receive requests for, 16 bits. */
  readonly credits: number;
  /** Entries of its table of mapped buffers. */
  readonly iomapSize: number;
  /** Where it is to be told of buffers for data; `length` is how many it can be told of at a time, 2. Mapped buffers follow behind. */
  readonly targets: Span;
  readonly data: Span;
}

/**
 * The table size that is told for a table of `size` entries: what cannot be said is rounded down, and so never promises an entry that is not there.
 *
 * @param size 0 to {@link MAX_IOMAP_SIZE}
 */
export function scaledIomapSize(size: number): number {
  return size <= LITERAL_IOMAP_SIZE ? size : IS_SCALED | (size >> 8);
}

/** How many entries a table has that such a size is told of. */
export function iomapSizeOf(scaled: number): number {
  return (scaled & IS_SCALED) !== 0 && scaled !== LITERAL_IOMAP_SIZE ? (scaled & ~IS_SCALED) << 8 : scaled;
}

export function encodeConnectionData(said: ConnectionData): Uint8Array {
  const bytes = new Uint8Array(CONNECTION_DATA_BYTES);
  const view = viewOf(bytes);
  view.setUint8(VERSION_AT, said.version);
  view.setUint8(FLAGS_AT, (said.byteOrder === 'big' ? Flags.BIG_ENDIAN : 0) | (said.hasIomap ? Flags.IOMAP : 0));
  view.setUint16(CREDITS_AT, said.credits);
  view.setUint8(IOMAP_SIZE_AT, scaledIomapSize(said.iomapSize));
  writeSpan(view, TARGETS_AT, said.targets, 'big');
  writeSpan(view, DATA_AT, said.data, 'big');
  return bytes;
}

/** @returns undefined for bytes that are too few to be of an rsocket. Zeros may follow; of another version all but that may mean something else */
export function decodeConnectionData(bytes: Uint8Array): ConnectionData | undefined {
  if (bytes.length < CONNECTION_DATA_BYTES) return undefined;
  const view = viewOf(bytes);
  const flags = view.getUint8(FLAGS_AT);
  return {
    version: view.getUint8(VERSION_AT),
    byteOrder: (flags & Flags.BIG_ENDIAN) === 0 ? 'little' : 'big',
    hasIomap: (flags & Flags.IOMAP) !== 0,
    credits: view.getUint16(CREDITS_AT),
    iomapSize: iomapSizeOf(view.getUint8(IOMAP_SIZE_AT)),
    targets: readSpan(view, TARGETS_AT, 'big'),
    data: readSpan(view, DATA_AT, 'big'),
  };
}
