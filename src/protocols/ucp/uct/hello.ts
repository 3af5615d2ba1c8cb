import { handshake, range, reserved, u16, u32, u8, type ValuesOf, only } from '../../../device/wire/index.js';

// What both ends say in the private data of rdma_cm. The form is ours: UCX's names lanes of its own, of which there is one here, the connection itself.

export const MAX_WINDOW = 1024;
/** A message of UCP with the longest fields, and some data. */
const MIN_SEGMENT_BYTES = 256;
const MAX_SEGMENT_BYTES = 65_536;

const RC_HELLO = handshake('VUCT', 1, {
  reserved: reserved(u8),
  window: range(u16, 1, MAX_WINDOW),
  /** Bytes of a buffer. */
  segmentBytes: range(u32, MIN_SEGMENT_BYTES, MAX_SEGMENT_BYTES),
});

export type Hello = ValuesOf<typeof RC_HELLO>;

export const { bytes: HELLO_BYTES, encode: encodeHello, decode: decodeHello } = RC_HELLO;

// What both ends of rdma_cm say in its private data where it is only asked for the queue pair of an interface. The form is ours. UCX keeps such a connection for as long as
// an endpoint; here it ends when that has been said.

const MAX_QPN = 0xff_ffff;

const UD_HELLO = handshake('VUCD', 1, {
  reserved: reserved(u8),
  reservedToo: reserved(u16),
  qpn: only(u32, (qpn) => qpn <= MAX_QPN, 'which is no queue pair'),
  /** Of whoever answers; 0 of whoever asks. */
  qkey: u32,
  /** Of whoever asks: which connection it will ask that queue pair for; 0 of whoever answers. */
  connection: u32,
});

/** Where the interface is found, at the address of the connection. */
export type UdHello = ValuesOf<typeof UD_HELLO>;

export const { bytes: UD_HELLO_BYTES, encode: encodeUdHello, decode: decodeUdHello } = UD_HELLO;

/** What users of a transport have for each other in the private data of rdma_cm, behind what its ends say there. */
export interface Words {
  readonly say?: Uint8Array | undefined;
  /** Is given what the peer has said, with zeros at its end, before the connection is there. */
  readonly onSaid?: ((bytes: Uint8Array) => void) | undefined;
}

export function behind(hello: Uint8Array, { say }: Words): Uint8Array {
  return say === undefined ? hello : Uint8Array.of(...hello, ...say);
}
