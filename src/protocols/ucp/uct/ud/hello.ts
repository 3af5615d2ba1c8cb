import { layout, only, type Said, u16, u32, u8, viewOf } from '../../wire/index.js';

// What both ends of rdma_cm say in its private data where it is only asked for the queue pair of an interface. The form is ours. UCX keeps such a connection for as long as
// an endpoint; here it ends when that has been said.

/** "VUCD", as the bytes are read. */
const MAGIC = 0x4443_5556;
const VERSION = 1;
const MAX_QPN = 0xff_ffff;

const HELLO = layout({
  magic: only(u32, (magic) => magic === MAGIC, 'so the peer speaks something else'),
  version: only(u8, (version) => version === VERSION, `and this end knows version ${VERSION}`),
  reserved: only(u8, (reserved) => reserved === 0, 'and must be 0'),
  reservedToo: only(u16, (reserved) => reserved === 0, 'and must be 0'),
  qpn: only(u32, (qpn) => qpn <= MAX_QPN, 'which is no queue pair'),
  /** Of whoever answers; 0 of whoever asks. */
  qkey: u32,
  /** Of whoever asks: which connection it will ask that queue pair for; 0 of whoever answers. */
  connection: u32,
});

export const UD_HELLO_BYTES = HELLO.bytes;

/** Where the interface is found, at the address of the connection. */
export type UdHello = Pick<Said<typeof HELLO>, 'qpn' | 'qkey' | 'connection'>;

export function encodeUdHello(hello: UdHello): Uint8Array {
  const bytes = new Uint8Array(HELLO.bytes);
  HELLO.encode(viewOf(bytes), 0, { ...hello, magic: MAGIC, version: VERSION, reserved: 0, reservedToo: 0 });
  return bytes;
}

/** What the peer said, or a sentence that says what is wrong with it. Zeros may follow. */
export function decodeUdHello(bytes: Uint8Array): UdHello | string {
  const said = HELLO.decode(viewOf(bytes), 0);
  if (typeof said === 'string') return said;
  const { qpn, qkey, connection } = said;
  return { qpn, qkey, connection };
}
