import { invalid, refuse, show } from '../../../api/verbs/index.js';
import { partOf, putInto, steady } from '../protocol/index.js';
import { type Landed, landedBytes, UcpTyped, Unpacking } from './datatype.js';

/** A tag, or a mask, as programs write it: 0 to 2^64 - 1, a number up to 2^53 - 1. */
export type TagValue = bigint | number;

const MAX_TAG = 2n ** 64n - 1n;

/** @throws VerbsError EINVAL */
export function checkTag(call: string, name: string, value: TagValue): void {
  const isTag = typeof value === 'number' ? Number.isSafeInteger(value) && value >= 0 : isWide(value);
  if (!isTag) refuse(call, invalid(`${name} is ${show(value)}`, 'It is 0 to 2^64 - 1, and above 2^53 - 1 a bigint'));
}

function isWide(value: unknown): boolean {
  return typeof value === 'bigint' && value >= 0n && value <= MAX_TAG;
}

/** @throws VerbsError EINVAL */
export function checkView(call: string, name: string, value: Uint8Array): void {
  if (!(value instanceof Uint8Array)) refuse(call, invalid(`${name} is ${show(value)}`, 'It is a Uint8Array'));
}

interface Landing {
  readonly buffer: Uint8Array;
  /** What a receive gives, once all is where the program wants it. @param begin begins it */
  landed<R extends Landed>(begin: () => Promise<R>): Promise<R>;
}

/** @param into of which `checkPieces` has nothing to say. @throws what the program throws; VerbsError EINVAL where it unpacks what makes no sense, ENOMEM for too much */
export function landingOf(call: string, into: UcpData): Landing {
  if (into instanceof UcpTyped) return new Unpacking(call, into);
  const destination = destinationOf(into);
  const buffer = destination.whole;
  if (into instanceof Uint8Array) return { buffer, landed: (begin) => begin() };
  return { buffer, landed: (begin) => scattered(begin(), destination) };
}

async function scattered<R extends Landed>(receiving: Promise<R>, destination: Destination): Promise<R> {
  const received = await receiving;
  destination.spread(landedBytes(received));
  return received;
}

/** Memory of a message: in one piece, or in several that follow each other (`UCP_DATATYPE_IOV`). */
export type Pieces = Uint8Array | readonly Uint8Array[];

/** Data of a message or of a stream: bytes, or what the program packs and unpacks by itself. */
export type UcpData = Pieces | UcpTyped;

/** @throws VerbsError EINVAL */
export function checkPieces(call: string, name: string, pieces: UcpData): void {
  if (pieces instanceof UcpTyped) return;
  if (!Array.isArray(pieces)) {
    if (!(pieces instanceof Uint8Array))
      refuse(call, invalid(`${name} is ${show(pieces)}`, 'It is a Uint8Array, an array of such, or of a UcpDatatype'));
    return;
  }
  for (const [i, piece] of pieces.entries()) checkView(call, `${name}[${i}]`, piece as Uint8Array);
}

/** Memory of a program's that a message is to go to. */
export interface Destination {
  /** As many bytes in one piece: the memory itself, where it is in one. */
  readonly whole: Uint8Array;
  /** All has come: puts it where it is to be. */
  spread(length: number): void;
}

/** @param pieces the array is the program's to use again when this returns */
export function destinationOf(pieces: Pieces): Destination {
  if (pieces instanceof Uint8Array) return { whole: steady(pieces), spread: () => undefined };
  const parts = pieces.map((piece) => ({ bytes: steady(piece), length: piece.byteLength }));
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  return { whole, spread: (length) => scatter(whole.subarray(0, length), parts) };
}

/** The bytes of all in one piece: a copy, unless they are in one already. */
export function gathered(pieces: Pieces): Uint8Array {
  if (pieces instanceof Uint8Array) return steady(pieces);
  const whole = new Uint8Array(pieces.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const piece of pieces) {
    const { byteLength } = piece;
    whole.set(partOf(piece, 0, byteLength), at);
    at += byteLength;
  }
  return whole;
}

/** Puts bytes where the pieces are, as far as they go. */
function scatter(from: Uint8Array, pieces: readonly { readonly bytes: Uint8Array; readonly length: number }[]): void {
  let at = 0;
  for (const { bytes, length } of pieces) {
    putInto(bytes, from.subarray(at, at + length), 0);
    at += length;
  }
}
