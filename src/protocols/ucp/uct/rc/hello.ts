import { handshake, range, reserved, u16, u32, u8, type ValuesOf } from '../../../../device/wire/index.js';

// What both ends say in the private data of rdma_cm. The form is ours: UCX's names lanes of its own, of which there is one here, the connection itself.

export const MAX_WINDOW = 1024;
/** A message of UCP with the longest fields, and some data. */
const MIN_SEGMENT_BYTES = 256;
const MAX_SEGMENT_BYTES = 65_536;

const HELLO = handshake('VUCT', 1, {
  reserved: reserved(u8),
  /** Active messages that there are buffers for. */
  window: range(u16, 1, MAX_WINDOW),
  /** Bytes of a buffer. */
  segmentBytes: range(u32, MIN_SEGMENT_BYTES, MAX_SEGMENT_BYTES),
});

/** What an end says of itself. */
export type Hello = ValuesOf<typeof HELLO>;

export const { bytes: HELLO_BYTES, encode: encodeHello, decode: decodeHello } = HELLO;
