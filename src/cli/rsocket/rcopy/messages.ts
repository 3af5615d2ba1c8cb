/** What rcopy's sides say to each other: integers are little-endian, as x86 writes them (`librdmacm/examples/rcopy.c`, which leaves it to the host). */

export const Command = { OPEN: 1, CLOSE: 2, WRITE: 3 } as const;
export type Command = (typeof Command)[keyof typeof Command];

export const RESPONSE = 0x80;

export interface Header {
  readonly command: number;
  /** Bytes of the message, its header included. */
  readonly length: number;
  /** OPEN: the file's mode. Answers: an errno, 0 when all went well. */
  readonly data: number;
}

export const HEADER_BYTES = 16;
/** A WRITE message: header, and bytes of the file, which follow it. */
export const WRITE_BYTES = HEADER_BYTES + 8;
/** Linux's PATH_MAX, and the end of the text. */
export const MAX_PATH_BYTES = 4096;

const VERSION = 0;
const COMMAND_AT = 1;
const LENGTH_AT = 2;
const DATA_AT = 4;

export function encode({ command, length, data }: Header, rest: Uint8Array = new Uint8Array()): Uint8Array {
  const bytes = Buffer.alloc(HEADER_BYTES + rest.length);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt8(command, COMMAND_AT);
  bytes.writeUInt16LE(length, LENGTH_AT);
  bytes.writeUInt32LE(data >>> 0, DATA_AT);
  bytes.set(rest, HEADER_BYTES);
  return bytes;
}

/** @returns a sentence, without its full stop, for what is no message */
export function decode(bytes: Uint8Array): Header | string {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const length = view.readUInt16LE(LENGTH_AT);
  const version = view.readUInt8(0);
  if (version !== VERSION || length < HEADER_BYTES) return `invalid version ${version} or length ${length}`;
  return { command: view.readUInt8(COMMAND_AT), length, data: view.readUInt32LE(DATA_AT) };
}

export function encodeOpen(path: string, mode: number): Uint8Array {
  // C ends it by zeros, up to a multiple of 8.
  const text = Buffer.from(path);
  const padded = Buffer.alloc((text.length + 8) & ~7);
  padded.set(text);
  return encode({ command: Command.OPEN, length: HEADER_BYTES + padded.length, data: mode }, padded);
}

export function decodePath(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return Buffer.from(end < 0 ? bytes : bytes.subarray(0, end)).toString('utf8');
}

export function encodeWrite(sizeBytes: bigint): Uint8Array {
  const size = Buffer.alloc(WRITE_BYTES - HEADER_BYTES);
  size.writeBigUInt64LE(sizeBytes);
  return encode({ command: Command.WRITE, length: WRITE_BYTES, data: 0 }, size);
}

export function decodeSize(bytes: Uint8Array): bigint {
  return Buffer.from(bytes).readBigUInt64LE();
}
