import { be16, be32, handshake, range, type ValuesOf } from '../../../../device/wire/index.js';

/** Frames that may be under way in one direction. */
export const WINDOW = 64;
/** A buffer for a frame: what Accelio's have, with a header of 256 bytes and 8192 of data. */
export const BUFFER_BYTES = 9216;
/** Frames up to so long are sent from within their work requests. */
export const INLINE_BYTES = 256;
const MOST_WINDOW = 1024;
const MOST_BUFFER_BYTES = 65_536;

/** What both ends say in the private data of rdma_cm. */
const HELLO = handshake(
  'XIOP',
  1,
  {
    window: range(be16, 4, MOST_WINDOW),
    bufferBytes: range(be32, BUFFER_BYTES, MOST_BUFFER_BYTES),
    /** The longest body that is taken. */
    maxBodyBytes: be32,
  },
  { versionType: be16 },
);

/** What an end of a link says of itself. */
export type Hello = ValuesOf<typeof HELLO>;

export const { encode: encodeHello, decode: decodeHello } = HELLO;

export function helloOf(maxBodyBytes: number): Hello {
  return { window: WINDOW, bufferBytes: BUFFER_BYTES, maxBodyBytes };
}
