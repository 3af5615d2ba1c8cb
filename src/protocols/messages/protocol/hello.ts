import { be16, be32, handshake, range, u8, type ValuesOf } from '../../../device/wire/index.js';
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

const NAMES = { protocol: 'the protocol of verbena/messages' };
const window = range(be16, MIN_WINDOW, MAX_WINDOW);
const HELLO = handshake(
  'VBMS',
  1,
  {
    /** Messages that the peer may send before it hears more. */
    window: { ...window, at: 6 },
    maxWindow: window,
    /** Bytes of each receive buffer. */
    bufferBytes: range(be32(12), PEER_BUFFER_BYTES.least, PEER_BUFFER_BYTES.most),
    /** The longest message that it takes. */
    maxMessageBytes: range(be32, 1, MAX_MESSAGE_BYTES),
  },
  NAMES,
);
const REFUSAL = handshake('VBMS', 1, { code: u8 }, { ...NAMES, anyVersion: true });

export type Hello = ValuesOf<typeof HELLO>;

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

export const encodeHello = HELLO.encode;

/** What the peer said of itself, or a sentence that says what is wrong with it. */
export function decodeHello(bytes: Uint8Array): Hello | string {
  const hello = HELLO.decode(bytes);
  if (typeof hello === 'string') return hello;
  const { window: first, maxWindow } = hello;
  return first > maxWindow ? `window is ${first}, which is not ${MIN_WINDOW} to ${maxWindow}` : hello;
}

/** @param maxBytes of the message that carries it; a text that is too long is cut */
export function encodeRefusal({ code, text }: Refusal, maxBytes: number): Uint8Array {
  const bytes = new Uint8Array(maxBytes);
  bytes.set(REFUSAL.encode({ code }));
  const { written } = new TextEncoder().encodeInto(text, bytes.subarray(REFUSAL.bytes));
  return bytes.slice(0, REFUSAL.bytes + written);
}

/** What a peer of this protocol said when it refused; undefined where it said nothing, or speaks something else. */
export function decodeRefusal(bytes: Uint8Array): Refusal | undefined {
  const refusal = REFUSAL.decode(bytes);
  return typeof refusal === 'string' ? undefined : { ...refusal, text: textIn(bytes.subarray(REFUSAL.bytes)) };
}

/** Text of a peer's: up to the first zero, without what could not be printed. */
export function textIn(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  const text = new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
  // eslint-disable-next-line no-control-regex -- Those are what a terminal must not be told by a peer.
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
