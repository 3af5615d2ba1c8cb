import { handshake, only, reserved, u16, u32, u8, type ValuesOf } from '../../../../device/wire/index.js';

// What both ends of rdma_cm say in its private data where it is only asked for the queue pair of an interface. The form is ours. UCX keeps such a connection for as long as
// an endpoint; here it ends when that has been said.

const MAX_QPN = 0xff_ffff;

const HELLO = handshake('VUCD', 1, {
  reserved: reserved(u8),
  reservedToo: reserved(u16),
  qpn: only(u32, (qpn) => qpn <= MAX_QPN, 'which is no queue pair'),
  /** Of whoever answers; 0 of whoever asks. */
  qkey: u32,
  /** Of whoever asks: which connection it will ask that queue pair for; 0 of whoever answers. */
  connection: u32,
});

/** Where the interface is found, at the address of the connection. */
export type UdHello = ValuesOf<typeof HELLO>;

export const { bytes: UD_HELLO_BYTES, encode: encodeUdHello, decode: decodeUdHello } = HELLO;
