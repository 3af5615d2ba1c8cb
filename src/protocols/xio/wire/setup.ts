import { addressesIn, encodeAddresses, MAX_ADDRESS_BYTES, MAX_ADDRESSES, MAX_TEXT_BYTES, textIn } from './addresses.js';
import { copyOf, setU64, u64, viewOf } from './fields.js';
import { statusName, XioStatus } from './status.js';

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
  if (count === 0) return 'MOVE sends the session on to nobody';
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
/** Of a session, at a server. */
export const MAX_CONNECTIONS = 64;
export const MAX_PRIVATE_BYTES = 2048;
const REQUEST_BYTES = 52;
const ANSWER_BYTES = 40;

/** What an end takes. */
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
  /** Which connection of the session. */
  readonly connection: number;
  /** Whether a server has accepted it before: one that does not know of it must not begin it anew. */
  readonly isKnown: boolean;
  readonly limits: Limits;
  readonly resource: string;
  readonly privateData: Uint8Array;
}

/** What becomes of it. */
export const Action = {
  ACCEPT: 1,
  /** The session is to begin at one of the addresses. */
  REDIRECT: 2,
  REJECT: 3,
  /** The server does not know of it any more. */
  UNKNOWN: 4,
} as const;
export type Action = (typeof Action)[keyof typeof Action];

/** What the server says. */
export interface SetupAnswer {
  readonly epoch: Uint8Array;
  readonly action: Action;
  /** Why, of a refusal. */
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
  const resource = new TextEncoder().encode(request.resource);
  const bytes = new Uint8Array(REQUEST_BYTES + resource.length + request.privateData.length);
  const view = viewOf(bytes);
  bytes.set(request.sessionId, 0);
  bytes.set(request.epoch, 16);
  view.setUint16(24, request.connection);
  view.setUint16(26, request.isKnown ? KNOWN : 0);
  setLimits(view, 28, request.limits);
  view.setUint16(48, resource.length);
  view.setUint16(50, request.privateData.length);
  bytes.set(resource, REQUEST_BYTES);
  bytes.set(request.privateData, REQUEST_BYTES + resource.length);
  return bytes;
}

/** @returns a sentence that says what is wrong with it */
export function decodeSetupRequest(bytes: Uint8Array): SetupRequest | string {
  if (bytes.length < REQUEST_BYTES) return `SESSION has ${bytes.length} bytes, where ${REQUEST_BYTES} are the least`;
  const view = viewOf(bytes);
  const limits = limitsAt(view, 28);
  const problem = limitsProblem(limits);
  if (problem !== undefined) return `SESSION says that the client has ${problem}`;
  const flags = view.getUint16(26);
  if ((flags & ~KNOWN) !== 0) return `SESSION has flags 0x${flags.toString(16)}, which do not all exist`;
  const connection = view.getUint16(24);
  if (connection >= MAX_CONNECTIONS)
    return `SESSION is of connection ${connection}, where ${MAX_CONNECTIONS} are the most`;
  const end = REQUEST_BYTES + view.getUint16(48);
  if (view.getUint16(48) > MAX_TEXT_BYTES || view.getUint16(50) > MAX_PRIVATE_BYTES)
    return 'SESSION has a longer resource, or more private data, than there can be';
  if (end + view.getUint16(50) !== bytes.length) return 'SESSION is not as long as its parts';
  return {
    sessionId: copyOf(bytes.subarray(0, SESSION_ID_BYTES)),
    epoch: copyOf(bytes.subarray(16, 16 + EPOCH_BYTES)),
    connection,
    isKnown: flags === KNOWN,
    limits,
    resource: textIn(bytes.subarray(REQUEST_BYTES, end)),
    privateData: copyOf(bytes.subarray(end)),
  };
}

export function encodeSetupAnswer(answer: SetupAnswer): Uint8Array {
  const { privateData } = answer;
  const addresses = encodeAddresses(answer.addresses);
  const words = new TextEncoder().encode(answer.words);
  const bytes = new Uint8Array(ANSWER_BYTES + addresses.length + privateData.length + words.length);
  const view = viewOf(bytes);
  bytes.set(answer.epoch, 0);
  view.setUint16(8, answer.action);
  view.setUint16(10, answer.addresses.length);
  view.setUint32(12, answer.status);
  setLimits(view, 16, answer.limits);
  view.setUint16(36, privateData.length);
  view.setUint16(38, words.length);
  bytes.set(addresses, ANSWER_BYTES);
  bytes.set(privateData, ANSWER_BYTES + addresses.length);
  bytes.set(words, ANSWER_BYTES + addresses.length + privateData.length);
  return bytes;
}

/** @returns a sentence that says what is wrong with it */
export function decodeSetupAnswer(bytes: Uint8Array): SetupAnswer | string {
  if (bytes.length < ANSWER_BYTES)
    return `SESSION_ANSWER has ${bytes.length} bytes, where ${ANSWER_BYTES} are the least`;
  const view = viewOf(bytes);
  const action = view.getUint16(8);
  if (!isAction(action)) return `SESSION_ANSWER has action ${action}, which does not exist`;
  const limits = limitsAt(view, 16);
  const problem = action === Action.ACCEPT ? limitsProblem(limits) : undefined;
  if (problem !== undefined) return `SESSION_ANSWER says that the server has ${problem}`;
  const status = view.getUint32(12);
  if (statusName(status) === undefined) return `SESSION_ANSWER has status ${status}, which does not exist`;
  const count = view.getUint16(10);
  if (count > MAX_ADDRESSES) return `SESSION_ANSWER has ${count} addresses, where ${MAX_ADDRESSES} are the most`;
  if (action === Action.REDIRECT && count === 0) return 'SESSION_ANSWER sends the session on to nobody';
  const texts = addressesIn(bytes, ANSWER_BYTES, count);
  const [privateBytes, wordBytes] = [view.getUint16(36), view.getUint16(38)];
  if (texts === undefined || texts.end + privateBytes + wordBytes !== bytes.length || privateBytes > MAX_PRIVATE_BYTES)
    return 'SESSION_ANSWER is not as long as its parts';
  const misplaced = misplacedIn(action, status, count, wordBytes);
  if (misplaced !== undefined) return misplaced;
  const wordsAt = texts.end + privateBytes;
  return {
    epoch: copyOf(bytes.subarray(0, EPOCH_BYTES)),
    action,
    status,
    limits,
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
  if (wordBytes > MAX_TEXT_BYTES) return `SESSION_ANSWER has ${wordBytes} bytes of words`;
  const hasAddresses = action === Action.ACCEPT || action === Action.REDIRECT;
  return addresses > 0 && !hasAddresses ? 'SESSION_ANSWER has addresses, and sends nobody there' : undefined;
}

function isAction(value: number): value is Action {
  return value >= Action.ACCEPT && value <= Action.UNKNOWN;
}

function setLimits(view: DataView, offset: number, limits: Limits): void {
  view.setUint32(offset, limits.queueMessages);
  setU64(view, offset + 4, limits.queueBytes);
  view.setUint32(offset + 12, limits.maxBodyBytes);
  view.setUint32(offset + 16, limits.maxHeaderBytes);
}

function limitsAt(view: DataView, offset: number): Limits {
  return {
    queueMessages: view.getUint32(offset),
    queueBytes: u64(view, offset + 4),
    maxBodyBytes: view.getUint32(offset + 12),
    maxHeaderBytes: view.getUint32(offset + 16),
  };
}
