import { MAX_WINDOW } from '../../core/index.js';
import { CONTROL_CREDITS } from './kinds.js';

/** Bytes of each receive buffer, and so of a fragment. */
export const BUFFER_BYTES = 4096;

/** Credits that a connection begins with, and the fewest that it can have. */
export const MIN_WINDOW = CONTROL_CREDITS + 2;

/** To how many buffers a window grows, where nobody says otherwise. */
export const DEFAULT_WINDOW = 64;

/** The longest message, where nobody says otherwise. */
export const DEFAULT_MESSAGE_BYTES = 16 * 1024 * 1024;

/** The longest message that anybody can ask for. */
export const MAX_MESSAGE_BYTES = 1024 * 1024 * 1024;

/** Buffers that peers may have. */
const PEER_BUFFER_BYTES = { least: 256, most: 64 * 1024 } as const;

// What both ends say in the private data of rdma_cm, before the first message (protocol/messages.md 11.1).

/** "VBMS" */
const MAGIC = 0x56424d53;
const VERSION = 1;
const HELLO_BYTES = 20;
/** Before the text of a refusal. */
const REFUSAL_HEAD_BYTES = 6;

/** What an end says of itself. */
export interface Hello {
  /** Messages that the peer may send before it hears more. */
  readonly window: number;
  /** The most that it will ever be. */
  readonly maxWindow: number;
  /** Bytes of each receive buffer. */
  readonly bufferBytes: number;
  /** The longest message that it takes. */
  readonly maxMessageBytes: number;
}

/** Why a connection was refused, for the program. */
export const RefusalCode = {
  /** The peer speaks something else, or another version. */
  PROTOCOL: 1,
  /** There are as many connections as the listener takes. */
  BUSY: 2,
} as const;
export type RefusalCode = (typeof RefusalCode)[keyof typeof RefusalCode];

export interface Refusal {
  readonly code: number;
  readonly text: string;
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

export function encodeHello(hello: Hello): Uint8Array {
  const bytes = new Uint8Array(HELLO_BYTES);
  const view = viewOf(bytes);
  view.setUint32(0, MAGIC);
  view.setUint8(4, VERSION);
  view.setUint16(6, hello.window);
  view.setUint16(8, hello.maxWindow);
  view.setUint32(12, hello.bufferBytes);
  view.setUint32(16, hello.maxMessageBytes);
  return bytes;
}

/** What the peer said of itself, or a sentence that says what is wrong with it. */
export function decodeHello(bytes: Uint8Array): Hello | string {
  if (bytes.length < HELLO_BYTES || viewOf(bytes).getUint32(0) !== MAGIC)
    return 'the peer does not speak the protocol of verbena/messages';
  const view = viewOf(bytes);
  const version = view.getUint8(4);
  if (version !== VERSION) return `the peer speaks version ${version} of the protocol, this end version ${VERSION}`;
  const hello = {
    window: view.getUint16(6),
    maxWindow: view.getUint16(8),
    bufferBytes: view.getUint32(12),
    maxMessageBytes: view.getUint32(16),
  };
  return helloProblem(hello) ?? hello;
}

function helloProblem({ window, maxWindow, bufferBytes, maxMessageBytes }: Hello): string | undefined {
  const { least, most } = PEER_BUFFER_BYTES;
  if (maxWindow < MIN_WINDOW || maxWindow > MAX_WINDOW)
    return `the peer's window can grow to ${maxWindow} messages, which is not ${MIN_WINDOW} to ${MAX_WINDOW}`;
  if (window < MIN_WINDOW || window > maxWindow)
    return `the peer's window is ${window} messages, which is not ${MIN_WINDOW} to ${maxWindow}`;
  if (bufferBytes < least || bufferBytes > most)
    return `the peer's buffers have ${bufferBytes} bytes, which is not ${least} to ${most}`;
  if (maxMessageBytes < 1 || maxMessageBytes > MAX_MESSAGE_BYTES)
    return `the peer takes messages of up to ${maxMessageBytes} bytes, which is not 1 to ${MAX_MESSAGE_BYTES}`;
  return undefined;
}

/** @param maxBytes of the message that carries it; a text that is too long is cut */
export function encodeRefusal({ code, text }: Refusal, maxBytes: number): Uint8Array {
  const bytes = new Uint8Array(maxBytes);
  const view = viewOf(bytes);
  view.setUint32(0, MAGIC);
  view.setUint8(4, VERSION);
  view.setUint8(5, code);
  const { written } = new TextEncoder().encodeInto(text, bytes.subarray(REFUSAL_HEAD_BYTES));
  return bytes.slice(0, REFUSAL_HEAD_BYTES + written);
}

/** What a peer of this protocol said when it refused; undefined where it said nothing, or speaks something else. */
export function decodeRefusal(bytes: Uint8Array): Refusal | undefined {
  if (bytes.length < REFUSAL_HEAD_BYTES) return undefined;
  const view = viewOf(bytes);
  if (view.getUint32(0) !== MAGIC) return undefined;
  return { code: view.getUint8(5), text: textIn(bytes.subarray(REFUSAL_HEAD_BYTES)) };
}

/** Text of a peer's: up to the first zero, without what could not be printed. */
export function textIn(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  const text = new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
  // eslint-disable-next-line no-control-regex -- Those are what a terminal must not be told by a peer.
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
