// What both ends say in the private data of rdma_cm: magic 4 "XIOP", version 2, window 2, buffer 4, longest body 4.

const MAGIC = 0x5849_4f50;
const VERSION = 1;
const HELLO_BYTES = 16;

/** Frames that may be under way in one direction. */
export const WINDOW = 64;
/** A buffer for a frame: what Accelio's have, with a header of 256 bytes and 8192 of data. */
export const BUFFER_BYTES = 9216;
/** Frames up to so long are sent from within their work requests. */
export const INLINE_BYTES = 256;
const MOST_WINDOW = 1024;
const MOST_BUFFER_BYTES = 65_536;

/** What an end of a link says of itself. */
export interface Hello {
  /** Frames that it has buffers for. */
  readonly window: number;
  /** Bytes of a buffer. */
  readonly bufferBytes: number;
  /** The longest body that it takes. */
  readonly maxBodyBytes: number;
}

/** What this end says of itself. */
export function helloOf(maxBodyBytes: number): Hello {
  return { window: WINDOW, bufferBytes: BUFFER_BYTES, maxBodyBytes };
}

export function encodeHello({ window, bufferBytes, maxBodyBytes }: Hello): Uint8Array {
  const bytes = new Uint8Array(HELLO_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC);
  view.setUint16(4, VERSION);
  view.setUint16(6, window);
  view.setUint32(8, bufferBytes);
  view.setUint32(12, maxBodyBytes);
  return bytes;
}

/** What the peer said, or a sentence that says what is wrong with it. Zeros may follow. */
export function decodeHello(bytes: Uint8Array): Hello | string {
  if (bytes.length < HELLO_BYTES) return 'the peer speaks something else';
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(0) !== MAGIC) return 'the peer speaks something else';
  const version = view.getUint16(4);
  if (version !== VERSION) return `the peer speaks version ${version}, and this end version ${VERSION}`;
  const hello = { window: view.getUint16(6), bufferBytes: view.getUint32(8), maxBodyBytes: view.getUint32(12) };
  if (hello.window < 4 || hello.window > MOST_WINDOW) return `the peer has a window of ${hello.window} frames`;
  if (hello.bufferBytes < BUFFER_BYTES || hello.bufferBytes > MOST_BUFFER_BYTES)
    return `the peer has buffers of ${hello.bufferBytes} bytes`;
  return hello;
}
