import {
  addressesIn,
  encodeAddresses,
  encoder,
  MAX_ADDRESS_BYTES,
  MAX_ADDRESSES,
  MAX_TEXT_BYTES,
  textIn,
} from './addresses.js';
import { be16, be32, be53, nested, octets, oneOf, only, range, struct, viewOf } from '../../../device/wire/index.js';
import { copyOf, gather } from './body.js';
import { XioStatus } from './status.js';

// What the header of MOVE carries: 0 addresses 2 | 2 {length 2, address}...

const COUNT_BYTES = 2;
/** The longest header of MOVE. */
export const MOST_MOVE_BYTES = COUNT_BYTES + MAX_ADDRESS_BYTES;

/** @param addresses where the session goes on, 1 to {@link MAX_ADDRESSES} */
export function encodeMove(addresses: readonly string[]): Uint8Array {
  const texts = encodeAddresses(addresses);
  const bytes = new Uint8Array(COUNT_BYTES + texts.length);
  viewOf(bytes).setUint16(0, addresses.length);
  bytes.set(texts, COUNT_BYTES);
  return bytes;
}

/** @returns the addresses; or a sentence that says what is wrong */
export function decodeMove(bytes: Uint8Array): readonly string[] | string {
  if (bytes.length < COUNT_BYTES) return `MOVE has ${bytes.length} bytes, where ${COUNT_BYTES} are the least`;
  const count = viewOf(bytes).getUint16(0);
  if (count === 0) return 'MOVE names no server to send the session to';
  if (count > MAX_ADDRESSES) return `MOVE has ${count} addresses, where ${MAX_ADDRESSES} are the most`;
  const texts = addressesIn(bytes, COUNT_BYTES, count);
  return texts?.end === bytes.length ? texts.addresses : 'MOVE is not as long as its parts';
}

// What the headers of SESSION and SESSION_ANSWER carry. Ours: Accelio's have 32 bits of session, and nothing to go on by.
//
// SESSION: 0 session 16 | 16 epoch 8 | 24 connection 2 | 26 flags 2 | 28 limits 20 | 48 resource length 2 | 50 private data length 2 | 52 resource, private data
// SESSION_ANSWER: 0 epoch 8 | 8 action 2 | 10 addresses 2 | 12 status 4 | 16 limits 20 | 36 private data length 2 | 38 words length 2 | 40 {length 2, address}..., private data, words
// limits: messages 4 | bytes 8 | longest body 4 | longest header 4

/** Bytes of a session's name, at random: whoever knows it is one of its ends. */
export const SESSION_ID_BYTES = 16;
/** Bytes of what tells one life of a server from the next. */
export const EPOCH_BYTES = 8;
export const MAX_CONNECTIONS = 64;
export const MAX_PRIVATE_BYTES = 2048;

export interface Limits {
  /** Requests and messages that the peer may have here before the program lets go of them. */
  readonly queueMessages: number;
  /** Bytes of their bodies. */
  readonly queueBytes: number;
  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
}

/** A client begins a session, or another connection of it, or goes on. */
export interface SetupRequest {
  readonly sessionId: Uint8Array;
  /** Of the server that has accepted it; zeros before one has. */
  readonly epoch: Uint8Array;
  readonly connection: number;
  /** Whether a server has accepted it before: one that does not know of it must not begin it anew. */
  readonly isKnown: boolean;
  readonly limits: Limits;
  readonly resource: string;
  readonly privateData: Uint8Array;
}

export const Action = {
  ACCEPT: 1,
  REDIRECT: 2,
  REJECT: 3,
  /** The server does not know of it any more. */
  UNKNOWN: 4,
} as const;
export type Action = (typeof Action)[keyof typeof Action];

export interface SetupAnswer {
  readonly epoch: Uint8Array;
  readonly action: Action;
  readonly status: XioStatus;
  readonly limits: Limits;
  /** Where to, of REDIRECT; where further connections go, of ACCEPT. */
  readonly addresses: readonly string[];
  readonly privateData: Uint8Array;
  /** Why, in words, of REJECT; else empty. */
  readonly words: string;
}

export const NO_LIMITS: Limits = { queueMessages: 0, queueBytes: 0, maxBodyBytes: 0, maxHeaderBytes: 0 };
const KNOWN = 1;
const LIMITS = struct({ queueMessages: be32, queueBytes: be53, maxBodyBytes: be32, maxHeaderBytes: be32 });
const REQUEST = struct({
  sessionId: octets(0, SESSION_ID_BYTES),
  epoch: octets(16, EPOCH_BYTES),
  connection: range(be16(24), 0, MAX_CONNECTIONS - 1),
  flags: only(be16, (flags) => (flags & ~KNOWN) === 0, 'which do not all exist'),
  limits: nested(28, LIMITS),
  resourceBytes: range(be16, 0, MAX_TEXT_BYTES),
  privateBytes: range(be16, 0, MAX_PRIVATE_BYTES),
});
const ANSWER = struct({
  epoch: octets(0, EPOCH_BYTES),
  action: oneOf(be16(8), Action),
  addressCount: range(be16, 0, MAX_ADDRESSES),
  status: oneOf(be32, XioStatus),
  limits: nested(16, LIMITS),
  privateBytes: range(be16, 0, MAX_PRIVATE_BYTES),
  wordBytes: range(be16, 0, MAX_TEXT_BYTES),
});
const LEAST_MESSAGES = 4;
const MOST_MESSAGES = 65_535;
const MOST_BYTES = 2 ** 40;
const MOST_BODY_BYTES = 2 ** 30;
const MOST_HEADER_BYTES = 4096;

/** What is wrong with limits, or undefined. */
export function limitsProblem({ queueMessages, queueBytes, maxBodyBytes, maxHeaderBytes }: Limits): string | undefined {
  if (queueMessages < LEAST_MESSAGES || queueMessages > MOST_MESSAGES) return `a queue of ${queueMessages} messages`;
  if (queueBytes < maxBodyBytes || queueBytes > MOST_BYTES) return `a queue of ${queueBytes} bytes`;
  if (maxBodyBytes > MOST_BODY_BYTES) return `bodies of ${maxBodyBytes} bytes`;
  if (maxHeaderBytes > MOST_HEADER_BYTES) return `headers of ${maxHeaderBytes} bytes`;
  return undefined;
}

export function encodeSetupRequest(request: SetupRequest): Uint8Array {
  const { isKnown, privateData } = request;
  const resource = encoder.encode(request.resource);
  const lengths = { resourceBytes: resource.length, privateBytes: privateData.length };
  return gather([REQUEST.encode({ ...request, ...lengths, flags: isKnown ? KNOWN : 0 }), resource, privateData]);
}

/** @returns a sentence that says what is wrong with it */
export function decodeSetupRequest(bytes: Uint8Array): SetupRequest | string {
  const request = REQUEST.decode(bytes);
  if (typeof request === 'string') return `SESSION is wrong: ${request}`;
  const { flags, resourceBytes, privateBytes, ...rest } = request;
  const problem = limitsProblem(rest.limits);
  if (problem !== undefined) return `SESSION says that the client has ${problem}`;
  const end = REQUEST.bytes + resourceBytes;
  if (end + privateBytes !== bytes.length) return 'SESSION is not as long as its parts';
  const resource = textIn(bytes.subarray(REQUEST.bytes, end));
  return { ...rest, isKnown: flags === KNOWN, resource, privateData: copyOf(bytes.subarray(end)) };
}

export function encodeSetupAnswer(answer: SetupAnswer): Uint8Array {
  const { addresses, privateData } = answer;
  const words = encoder.encode(answer.words);
  const counts = { addressCount: addresses.length, privateBytes: privateData.length, wordBytes: words.length };
  return gather([ANSWER.encode({ ...answer, ...counts }), encodeAddresses(addresses), privateData, words]);
}

/** @returns a sentence that says what is wrong with it */
export function decodeSetupAnswer(bytes: Uint8Array): SetupAnswer | string {
  const answer = ANSWER.decode(bytes);
  if (typeof answer === 'string') return `SESSION_ANSWER is wrong: ${answer}`;
  const { addressCount, privateBytes, wordBytes, ...rest } = answer;
  const { action, status } = rest;
  const problem = action === Action.ACCEPT ? limitsProblem(rest.limits) : undefined;
  if (problem !== undefined) return `SESSION_ANSWER says that the server has ${problem}`;
  if (action === Action.REDIRECT && addressCount === 0) return 'SESSION_ANSWER names no server to send the session to';
  const texts = addressesIn(bytes, ANSWER.bytes, addressCount);
  if (texts === undefined || texts.end + privateBytes + wordBytes !== bytes.length)
    return 'SESSION_ANSWER is not as long as its parts';
  const misplaced = misplacedIn(action, status, addressCount, wordBytes);
  if (misplaced !== undefined) return misplaced;
  const wordsAt = texts.end + privateBytes;
  return {
    ...rest,
    addresses: texts.addresses,
    privateData: copyOf(bytes.subarray(texts.end, wordsAt)),
    words: textIn(bytes.subarray(wordsAt)),
  };
}

/** What an answer of that action does not have. */
function misplacedIn(action: Action, status: number, addresses: number, wordBytes: number): string | undefined {
  if (action === Action.REJECT && status === XioStatus.XIO_E_SUCCESS)
    return 'SESSION_ANSWER refuses the session with success';
  if (action !== Action.REJECT && wordBytes > 0) return 'SESSION_ANSWER says why, and refuses nothing';
  const hasAddresses = action === Action.ACCEPT || action === Action.REDIRECT;
  return addresses > 0 && !hasAddresses ? 'SESSION_ANSWER has addresses, and sends nobody there' : undefined;
}
