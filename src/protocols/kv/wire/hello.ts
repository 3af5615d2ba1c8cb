/** Names a session: 64 bits that nobody can guess, in two words, so that none has to be made for each request. */
export interface SessionId {
  readonly high: number;
  readonly low: number;
}

export const NO_SESSION: SessionId = { high: 0, low: 0 };

/** The same 32 bits, of whatever sign. */
export function isSameSession(a: SessionId, b: SessionId): boolean {
  return (a.high | 0) === (b.high | 0) && (a.low | 0) === (b.low | 0);
}

/** A new one. @param random gives 32 bits that nobody can guess */
export function newSessionId(random: () => number): SessionId {
  for (;;) {
    const id = { high: random() >>> 0, low: random() >>> 0 };
    if (!isSameSession(id, NO_SESSION)) return id;
  }
}

/** As the key of a table. */
export function sessionKey({ high, low }: SessionId): string {
  return `${(high >>> 0).toString(16)}:${(low >>> 0).toString(16)}`;
}

// What both ends say in the private data of rdma_cm, before the first request (protocol/kv.md 6.1).

/** "VBKV" */
const MAGIC = 0x56424b56;
const VERSION = 1;
export const OFFER_BYTES = 40;
export const WELCOME_BYTES = 56;
export const READER_OFFER_BYTES = 24;
const REFUSAL_BYTES = 12;
export const MAX_WINDOW = 1024;

/** How requests and answers travel. */
export const Transport = {
  /** Both by SEND on the reliable connection. */
  RC: 0,
  /** Requests by WRITE with immediate data on an unreliable connection, answers by datagram: HERD's way. */
  UC: 1,
  /** Both by datagram. */
  UD: 2,
} as const;
export type Transport = (typeof Transport)[keyof typeof Transport];

/** Where other offers have a transport. */
const READER = 3;

/** Queue pairs beside the reliable connection; what a transport has no use for is 0. */
export interface QueuePairNames {
  readonly ucQpn: number;
  /** Which PSN that queue pair sends first. */
  readonly ucPsn: number;
  readonly udQpn: number;
  readonly udQkey: number;
}

export const NO_QUEUE_PAIRS: QueuePairNames = { ucQpn: 0, ucPsn: 0, udQpn: 0, udQkey: 0 };

/** What a client says of itself. */
export interface Offer {
  readonly transport: Transport;
  /** Requests that it wants to have under way at a time. */
  readonly window: number;
  /** The session that it had, and wants to go on with; both 0 for a new one. */
  readonly session: SessionId;
  readonly epoch: number;
  readonly pairs: QueuePairNames;
}

/** The client of a session asks for a connection by which it reads the server's memory, and does nothing else. */
export interface ReaderOffer {
  readonly session: SessionId;
  readonly epoch: number;
}

/** What the server answers. */
export interface Welcome {
  readonly transport: Transport;
  /** Requests that may be under way at a time: so many slots. */
  readonly window: number;
  readonly session: SessionId;
  readonly epoch: number;
  /** The longest request, and the longest answer. */
  readonly slotBytes: number;
  readonly pairs: QueuePairNames;
  /** Where the client's slots are, for WRITEs. */
  readonly addr: bigint;
  readonly rkey: number;
}

/** Why a client was refused. */
export const RefusalCode = {
  /** It speaks something else, or another version, or asks for what the server does not do. */
  PROTOCOL: 1,
  /** There are as many sessions as the server takes. */
  BUSY: 2,
  /** The session was of another life of the server. */
  EPOCH: 3,
  /** The server does not know the session any more. */
  SESSION: 4,
  /** The server's memory is not for clients to read. */
  ONE_SIDED: 5,
} as const;
export type RefusalCode = (typeof RefusalCode)[keyof typeof RefusalCode];

export interface Refusal {
  readonly code: number;
  /** That of the server. */
  readonly epoch: number;
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

function begin(bytes: number, at5: number): { bytes: Uint8Array; view: DataView } {
  const made = new Uint8Array(bytes);
  const view = viewOf(made);
  view.setUint32(0, MAGIC);
  view.setUint8(4, VERSION);
  view.setUint8(5, at5);
  return { bytes: made, view };
}

/** What is wrong with the first bytes, or undefined. */
function headProblem(bytes: Uint8Array, least: number): string | undefined {
  if (bytes.length < least || viewOf(bytes).getUint32(0) !== MAGIC)
    return 'the peer does not speak the protocol of the key-value store';
  const version = bytes[4];
  if (version !== VERSION) return `the peer speaks version ${version} of the protocol, this end version ${VERSION}`;
  return undefined;
}

function writePairs(view: DataView, at: number, { ucQpn, ucPsn, udQpn, udQkey }: QueuePairNames): void {
  view.setUint32(at, ucQpn);
  view.setUint32(at + 4, ucPsn);
  view.setUint32(at + 8, udQpn);
  view.setUint32(at + 12, udQkey);
}

function readPairs(view: DataView, at: number): QueuePairNames {
  return {
    ucQpn: view.getUint32(at),
    ucPsn: view.getUint32(at + 4),
    udQpn: view.getUint32(at + 8),
    udQkey: view.getUint32(at + 12),
  };
}

function readSession(view: DataView, at: number): SessionId {
  return { high: view.getUint32(at), low: view.getUint32(at + 4) };
}

const TRANSPORTS: readonly number[] = Object.values(Transport);
const isTransport = (value: number): value is Transport => TRANSPORTS.includes(value);

function isWindow(window: number): boolean {
  return window >= 1 && window <= MAX_WINDOW;
}

export function encodeOffer({ transport, window, session, epoch, pairs }: Offer): Uint8Array {
  const { bytes, view } = begin(OFFER_BYTES, transport);
  view.setUint16(6, window);
  view.setUint32(8, session.high);
  view.setUint32(12, session.low);
  view.setUint32(16, epoch);
  writePairs(view, 24, pairs);
  return bytes;
}

/** What a client said of itself, or a sentence that says what is wrong with it. */
export function decodeOffer(bytes: Uint8Array): Offer | string {
  const problem = headProblem(bytes, OFFER_BYTES);
  if (problem !== undefined) return problem;
  const view = viewOf(bytes);
  const transport = view.getUint8(5);
  const window = view.getUint16(6);
  if (!isTransport(transport)) return `there is no transport ${transport}`;
  if (!isWindow(window)) return `a window of ${window} requests, which is not 1 to ${MAX_WINDOW}`;
  return { transport, window, session: readSession(view, 8), epoch: view.getUint32(16), pairs: readPairs(view, 24) };
}

export function encodeReaderOffer({ session, epoch }: ReaderOffer): Uint8Array {
  const { bytes, view } = begin(READER_OFFER_BYTES, READER);
  view.setUint32(8, session.high);
  view.setUint32(12, session.low);
  view.setUint32(16, epoch);
  return bytes;
}

/** @returns undefined for what is no such offer */
export function decodeReaderOffer(bytes: Uint8Array): ReaderOffer | undefined {
  if (headProblem(bytes, READER_OFFER_BYTES) !== undefined || bytes[5] !== READER) return undefined;
  const view = viewOf(bytes);
  return { session: readSession(view, 8), epoch: view.getUint32(16) };
}

export function encodeWelcome(welcome: Welcome): Uint8Array {
  const { transport, window, session, epoch, slotBytes, pairs, addr, rkey } = welcome;
  const { bytes, view } = begin(WELCOME_BYTES, transport);
  view.setUint16(6, window);
  view.setUint32(8, session.high);
  view.setUint32(12, session.low);
  view.setUint32(16, epoch);
  view.setUint32(20, slotBytes);
  writePairs(view, 24, pairs);
  view.setBigUint64(40, addr);
  view.setUint32(48, rkey);
  return bytes;
}

/** What the server answered, or a sentence that says what is wrong with it. */
export function decodeWelcome(bytes: Uint8Array): Welcome | string {
  const problem = headProblem(bytes, WELCOME_BYTES);
  if (problem !== undefined) return problem;
  const view = viewOf(bytes);
  const transport = view.getUint8(5);
  const window = view.getUint16(6);
  const slotBytes = view.getUint32(20);
  if (!isTransport(transport)) return `there is no transport ${transport}`;
  if (!isWindow(window)) return `a window of ${window} requests, which is not 1 to ${MAX_WINDOW}`;
  if (slotBytes < MIN_SLOT_BYTES || slotBytes > MAX_SLOT_BYTES)
    return `slots of ${slotBytes} bytes, which is not ${MIN_SLOT_BYTES} to ${MAX_SLOT_BYTES}`;
  return {
    transport,
    window,
    session: readSession(view, 8),
    epoch: view.getUint32(16),
    slotBytes,
    pairs: readPairs(view, 24),
    addr: view.getBigUint64(40),
    rkey: view.getUint32(48),
  };
}

/** A slot holds a request with the longest key, and a value elsewhere. */
export const MIN_SLOT_BYTES = 320;
export const MAX_SLOT_BYTES = 65_536;

export function encodeRefusal({ code, epoch }: Refusal): Uint8Array {
  const { bytes, view } = begin(REFUSAL_BYTES, code);
  view.setUint32(8, epoch);
  return bytes;
}

/** Why the server refused; undefined where it said nothing, or speaks something else. */
export function decodeRefusal(bytes: Uint8Array): Refusal | undefined {
  if (headProblem(bytes, REFUSAL_BYTES) !== undefined) return undefined;
  return { code: bytes[5], epoch: viewOf(bytes).getUint32(8) };
}
