import { layout, only, type Said, u16, u32, u8, viewOf } from '../../wire/index.js';

// What both ends say in the private data of rdma_cm. The form is ours: UCX's names lanes of its own, of which there is one here, the connection itself.

/** "VUCT", as the bytes are read. */
const MAGIC = 0x5443_5556;
const VERSION = 1;
export const MAX_WINDOW = 1024;
/** A message of UCP with the longest fields, and some data. */
const MIN_SEGMENT_BYTES = 256;
const MAX_SEGMENT_BYTES = 65_536;

const HELLO = layout({
  magic: only(u32, (magic) => magic === MAGIC, 'so the peer speaks something else'),
  version: only(u8, (version) => version === VERSION, `and this end knows version ${VERSION}`),
  reserved: only(u8, (reserved) => reserved === 0, 'and must be 0'),
  /** Active messages that there are buffers for. */
  window: only(u16, (window) => window >= 1 && window <= MAX_WINDOW, `which is not 1 to ${MAX_WINDOW}`),
  /** Bytes of a buffer. */
  segmentBytes: only(
    u32,
    (bytes) => bytes >= MIN_SEGMENT_BYTES && bytes <= MAX_SEGMENT_BYTES,
    `which is not ${MIN_SEGMENT_BYTES} to ${MAX_SEGMENT_BYTES}`,
  ),
});

export const HELLO_BYTES = HELLO.bytes;

/** What an end says of itself. */
export type Hello = Pick<Said<typeof HELLO>, 'window' | 'segmentBytes'>;

export function encodeHello(hello: Hello): Uint8Array {
  const bytes = new Uint8Array(HELLO.bytes);
  HELLO.encode(viewOf(bytes), 0, { ...hello, magic: MAGIC, version: VERSION, reserved: 0 });
  return bytes;
}

/** What the peer said, or a sentence that says what is wrong with it. Zeros may follow. */
export function decodeHello(bytes: Uint8Array): Hello | string {
  const said = HELLO.decode(viewOf(bytes), 0);
  return typeof said === 'string' ? said : { window: said.window, segmentBytes: said.segmentBytes };
}
