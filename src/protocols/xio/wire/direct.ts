import { setU64, u64, viewOf } from './fields.js';

// What ends of a session say of memory that one of them grants and the other reads and writes directly. protocol/xio.md 10.8.
//
// Token, which programs give to each other: 0 grant 16 | 16 length 8 | 24 access 1 | 25 zeros 5 | 30 connection 2
// Header of a direct request: 0 operation 1 | 1 zeros 7 | 8 grant 16 | 24 offset 8 | 32 length 8
// Header of the answer to MAP: 0 length 8 | 8 access 1 | 9 zeros 7 | 16 place, where there is one

/** What a peer may do with memory. */
export interface Access {
  readonly read: boolean;
  readonly write: boolean;
}

/** Bytes of a grant's name, at random: whoever knows it may use the memory, in the session in which it was granted. */
export const GRANT_ID_BYTES = 16;
/** Bytes of a token. */
export const GRANT_TOKEN_BYTES = 32;
/** Bytes of how a transport names granted memory. */
export const PLACE_BYTES = 48;
/** The longest header that is the protocol's own. */
export const MOST_DIRECT_BYTES = 64;
/** In a token: whichever connection of the session. */
export const ANY_CONNECTION = 0xffff;
const REQUEST_BYTES = 40;
const MAPPED_BYTES = 16;
const READ = 1;
const WRITE = 2;

/** What became of a direct access of a link's. */
export type MoveOutcome =
  | 'done'
  /** It was revoked: what was read is worth nothing, what was written is nowhere, or was there before. */
  | 'revoked'
  /** The peer's end does not allow it, and so the link ends. */
  | 'refused'
  /** The link has ended before that was known. */
  | 'lost';

/** What is said of a grant to whoever is to use it. */
export interface GrantToken {
  readonly id: Uint8Array;
  readonly length: number;
  readonly access: Access;
  /** The connection of the session that leads to it, or {@link ANY_CONNECTION}. */
  readonly connection: number;
}

export const DirectOperation = {
  /** Asks how the link names the memory, so that it can be used without asking. */
  MAP: 1,
  /** Asks for bytes of it, as the body of the response. */
  READ: 2,
  /** Has the body put there. */
  WRITE: 3,
  /** It is granted no more. Answered when the peer has nothing under way there. */
  REVOKE: 4,
} as const;
export type DirectOperation = (typeof DirectOperation)[keyof typeof DirectOperation];

/** A request of the session's own. */
export interface DirectRequest {
  readonly operation: DirectOperation;
  readonly id: Uint8Array;
  readonly offset: number;
  readonly length: number;
}

/** How memory can be used. */
export interface Mapped {
  readonly length: number;
  readonly access: Access;
  /** As the link names it; undefined where it is used by messages. */
  readonly place: Uint8Array | undefined;
}

function bitsOf({ read, write }: Access): number {
  return (read ? READ : 0) | (write ? WRITE : 0);
}

function accessOf(bits: number): Access {
  return { read: (bits & READ) !== 0, write: (bits & WRITE) !== 0 };
}

export function encodeGrantToken({ id, length, access, connection }: GrantToken): Uint8Array {
  const bytes = new Uint8Array(GRANT_TOKEN_BYTES);
  const view = viewOf(bytes);
  bytes.set(id);
  setU64(view, 16, length);
  view.setUint8(24, bitsOf(access));
  view.setUint16(30, connection);
  return bytes;
}

/** @returns undefined for what is no token */
export function decodeGrantToken(bytes: Uint8Array): GrantToken | undefined {
  if (bytes.length !== GRANT_TOKEN_BYTES) return undefined;
  const view = viewOf(bytes);
  const [length, bits] = [u64(view, 16), view.getUint8(24)];
  if (length < 0 || bits > (READ | WRITE)) return undefined;
  return { id: bytes.slice(0, GRANT_ID_BYTES), length, access: accessOf(bits), connection: view.getUint16(30) };
}

export function encodeDirectRequest({ operation, id, offset, length }: DirectRequest): Uint8Array {
  const bytes = new Uint8Array(REQUEST_BYTES);
  const view = viewOf(bytes);
  view.setUint8(0, operation);
  bytes.set(id, 8);
  setU64(view, 24, offset);
  setU64(view, 32, length);
  return bytes;
}

/** @returns a sentence that says what is wrong with it */
export function decodeDirectRequest(bytes: Uint8Array): DirectRequest | string {
  if (bytes.length !== REQUEST_BYTES)
    return `a direct request has ${bytes.length} bytes, where it has ${REQUEST_BYTES}`;
  const view = viewOf(bytes);
  const operation = view.getUint8(0);
  if (!isOperation(operation)) return `a direct request is of operation ${operation}, which does not exist`;
  const [offset, length] = [u64(view, 24), u64(view, 32)];
  if (offset < 0 || length < 0) return 'a direct request has a number beyond 2^53';
  return { operation, id: bytes.slice(8, 8 + GRANT_ID_BYTES), offset, length };
}

function isOperation(value: number): value is DirectOperation {
  return value >= DirectOperation.MAP && value <= DirectOperation.REVOKE;
}

export function encodeMapped({ length, access, place }: Mapped): Uint8Array {
  const bytes = new Uint8Array(MAPPED_BYTES + (place?.length ?? 0));
  const view = viewOf(bytes);
  setU64(view, 0, length);
  view.setUint8(8, bitsOf(access));
  if (place !== undefined) bytes.set(place, MAPPED_BYTES);
  return bytes;
}

/** @returns undefined for what is no such answer */
export function decodeMapped(bytes: Uint8Array): Mapped | undefined {
  const hasPlace = bytes.length === MAPPED_BYTES + PLACE_BYTES;
  if (!hasPlace && bytes.length !== MAPPED_BYTES) return undefined;
  const view = viewOf(bytes);
  const [length, bits] = [u64(view, 0), view.getUint8(8)];
  if (length < 0 || bits > (READ | WRITE)) return undefined;
  return { length, access: accessOf(bits), place: hasPlace ? bytes.slice(MAPPED_BYTES) : undefined };
}
