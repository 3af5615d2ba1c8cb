// What goes over the wire (protocol/tools.md 7.2).

/** Memory that the peer is to read or write. */
export interface Advertisement {
  readonly addr: bigint;
  readonly rkey: number;
  readonly lengthBytes: number;
}

/** Every message has this length; of the server's the content means nothing. */
export const MESSAGE_BYTES = 16;

const ADDR = 0;
const RKEY = 8;
const LENGTH = 12;

function viewOf(message: Uint8Array): DataView {
  return new DataView(message.buffer, message.byteOffset, message.byteLength);
}

export function writeMessage(message: Uint8Array, { addr, rkey, lengthBytes }: Advertisement): void {
  const view = viewOf(message);
  view.setBigUint64(ADDR, addr);
  view.setUint32(RKEY, rkey);
  view.setUint32(LENGTH, lengthBytes);
}

export function readMessage(message: Uint8Array): Advertisement {
  const view = viewOf(message);
  return { addr: view.getBigUint64(ADDR), rkey: view.getUint32(RKEY), lengthBytes: view.getUint32(LENGTH) };
}

const FIRST_LETTER = 'A'.charCodeAt(0);
const LETTERS = 'z'.charCodeAt(0) - FIRST_LETTER + 1;

/** Puts the text of a ping into a buffer: its number, then letters that begin one further each time, then a NUL. */
export function writePing(buffer: Uint8Array, ping: number): void {
  const head = Buffer.from(`rdma-ping-${ping}: `, 'latin1').subarray(0, buffer.length - 1);
  buffer.set(head);
  for (let at = head.length; at < buffer.length; at += 1) {
    buffer[at] = FIRST_LETTER + ((ping + at - head.length) % LETTERS);
  }
  buffer[buffer.length - 1] = 0;
}

/** How long the text in a buffer is, with its NUL; as long as the buffer when it has none. */
export function textBytes(buffer: Uint8Array): number {
  const end = buffer.indexOf(0);
  return end < 0 ? buffer.length : end + 1;
}

/** The text in a buffer, without its NUL. */
export function textOf(buffer: Uint8Array): string {
  const end = buffer.indexOf(0);
  return Buffer.from(end < 0 ? buffer : buffer.subarray(0, end)).toString('latin1');
}
