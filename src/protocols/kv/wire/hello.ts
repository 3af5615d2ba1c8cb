import {
  be16,
  be32,
  be64,
  constant,
  handshake,
  nested,
  oneOf,
  range,
  type Struct,
  struct,
  u8,
} from '../../../device/wire/index.js';

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

export function sessionKey({ high, low }: SessionId): string {
  return `${(high >>> 0).toString(16)}:${(low >>> 0).toString(16)}`;
}

// What both ends say in the private data of rdma_cm, before the first request (protocol/kv.md 6.1).

export const MAX_WINDOW = 1024;

/** How requests and answers travel. */
export const Transport = {
  /** Both by SEND on the reliable connection. */
  RC: 0,
  /** Requests by WRITE with immediate data on an unreliable connection, answers by datagram: HERD's way. */
  UC: 1,
  UD: 2,
} as const;
export type Transport = (typeof Transport)[keyof typeof Transport];

const READER = 3;

/** Queue pairs beside the reliable connection; what a transport has no use for is 0. */
export interface QueuePairNames {
  readonly ucQpn: number;
  readonly ucPsn: number;
  readonly udQpn: number;
  readonly udQkey: number;
}

export const NO_QUEUE_PAIRS: QueuePairNames = { ucQpn: 0, ucPsn: 0, udQpn: 0, udQkey: 0 };

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
  readonly epoch: number;
}

/** A slot holds a request with the longest key, and a value elsewhere. */
export const MIN_SLOT_BYTES = 320;
export const MAX_SLOT_BYTES = 65_536;

const SESSION = struct({ high: be32, low: be32 });
const NUMBER = range(be32, 0, 0xff_ffff);
const PAIRS = struct({ ucQpn: NUMBER, ucPsn: NUMBER, udQpn: NUMBER, udQkey: be32 });
const OF_SESSION = { session: nested(8, SESSION), epoch: be32(16) };
const BOTH = {
  transport: oneOf(u8(5), Transport),
  window: range(be16, 1, MAX_WINDOW),
  ...OF_SESSION,
  pairs: nested(24, PAIRS),
};
const handshakeOf = <F extends Parameters<typeof struct>[0]>(fields: F, bytes: number) =>
  handshake('VBKV', 1, fields, { bytes, protocol: 'the protocol of the key-value store' });

const OFFER: Struct<Offer> = handshakeOf(BOTH, 40);
const READER_OFFER = handshakeOf({ kind: constant(u8(5), READER, () => 'it is no reader'), ...OF_SESSION }, 24);
const WELCOME: Struct<Welcome> = handshakeOf(
  { ...BOTH, slotBytes: range(be32(20), MIN_SLOT_BYTES, MAX_SLOT_BYTES), addr: be64(40), rkey: be32 },
  56,
);
const REFUSAL = handshakeOf({ code: u8(5), epoch: be32(8) }, 12);

export const { bytes: OFFER_BYTES, encode: encodeOffer, decode: decodeOffer } = OFFER;
export const { bytes: WELCOME_BYTES, encode: encodeWelcome, decode: decodeWelcome } = WELCOME;
export const encodeReaderOffer = READER_OFFER.encode;
export const encodeRefusal = REFUSAL.encode;

/** @returns undefined for what is no such offer */
export function decodeReaderOffer(bytes: Uint8Array): ReaderOffer | undefined {
  const offer = READER_OFFER.decode(bytes);
  return typeof offer === 'string' ? undefined : offer;
}

/** Why the server refused; undefined where it said nothing, or speaks something else. */
export function decodeRefusal(bytes: Uint8Array): Refusal | undefined {
  const refusal = REFUSAL.decode(bytes);
  return typeof refusal === 'string' ? undefined : refusal;
}
