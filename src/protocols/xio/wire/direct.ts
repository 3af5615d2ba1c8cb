import { be16, be53, bits, flag, octets, oneOf, reserved, struct, u8 } from '../../../device/wire/index.js';

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
  WRITE: 3,
  /** It is granted no more. Answered when the peer has nothing under way there. */
  REVOKE: 4,
} as const;
export type DirectOperation = (typeof DirectOperation)[keyof typeof DirectOperation];

export interface DirectRequest {
  readonly operation: DirectOperation;
  readonly id: Uint8Array;
  readonly offset: number;
  readonly length: number;
}

export interface Mapped {
  readonly length: number;
  readonly access: Access;
  /** As the link names it; undefined where it is used by messages. */
  readonly place: Uint8Array | undefined;
}

const accessAt = (at: number) => ({
  read: flag(at, 0),
  write: flag(at, 1),
  otherAccess: reserved(bits(at, 7, 2)),
});
const TOKEN = struct(
  { id: octets(0, GRANT_ID_BYTES), length: be53(16), ...accessAt(24), connection: be16(30) },
  GRANT_TOKEN_BYTES,
);
const REQUEST = struct({
  operation: oneOf(u8, DirectOperation),
  id: octets(8, GRANT_ID_BYTES),
  offset: be53(24),
  length: be53(32),
});
const MAPPED = struct({ length: be53, ...accessAt(8) }, 16);

export function encodeGrantToken(token: GrantToken): Uint8Array {
  return TOKEN.encode({ ...token, ...token.access });
}

/** @returns undefined for what is no token */
export function decodeGrantToken(bytes: Uint8Array): GrantToken | undefined {
  const token = bytes.length === GRANT_TOKEN_BYTES ? TOKEN.decode(bytes) : '';
  if (typeof token === 'string') return undefined;
  const { read, write, ...rest } = token;
  return { ...rest, access: { read, write } };
}

export const encodeDirectRequest: (request: DirectRequest) => Uint8Array = REQUEST.encode;

/** @returns a sentence that says what is wrong with it */
export function decodeDirectRequest(bytes: Uint8Array): DirectRequest | string {
  if (bytes.length !== REQUEST.bytes)
    return `a direct request has ${bytes.length} bytes, where it has ${REQUEST.bytes}`;
  const request = REQUEST.decode(bytes);
  return typeof request === 'string' ? `a direct request is wrong: ${request}` : request;
}

export function encodeMapped({ length, access, place }: Mapped): Uint8Array {
  const fields = MAPPED.encode({ length, ...access });
  if (place === undefined) return fields;
  const bytes = new Uint8Array(MAPPED.bytes + place.length);
  bytes.set(fields);
  bytes.set(place, MAPPED.bytes);
  return bytes;
}

/** @returns undefined for what is no such answer */
export function decodeMapped(bytes: Uint8Array): Mapped | undefined {
  const hasPlace = bytes.length === MAPPED.bytes + PLACE_BYTES;
  const mapped = hasPlace || bytes.length === MAPPED.bytes ? MAPPED.decode(bytes) : '';
  if (typeof mapped === 'string') return undefined;
  const { length, ...access } = mapped;
  return { length, access, place: hasPlace ? bytes.slice(MAPPED.bytes) : undefined };
}
