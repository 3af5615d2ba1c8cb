import type { QpCap } from '../../../device/ibta/index.js';
import { isAddress, isU32 } from '../address.js';
import { invalid, type Problem } from '../errors.js';
import {
  addressProblem,
  bytesProblem,
  isList,
  isMissing,
  isObject,
  listProblem,
  objectProblem,
  u32Problem,
} from './values.js';

/** A piece of memory as it may come from a program that no compiler has checked. */
export interface LoosePiece {
  readonly addr?: unknown;
  readonly length?: unknown;
  readonly lkey?: unknown;
  readonly bytes?: unknown;
}

export const NO_PIECES: readonly unknown[] = [];

/** Why a piece of memory cannot be named so, or undefined. */
export function pieceProblem(value: unknown, index: number, keyed: boolean): Problem | undefined {
  return isObject(value) ? fieldsProblem(value, index, keyed) : objectProblem(`sgList[${index}]`, value);
}

function fieldsProblem(piece: LoosePiece, index: number, keyed: boolean): Problem | undefined {
  if (!isAddress(piece.addr)) return addressProblem(`sgList[${index}].addr`, piece.addr);
  if (!isU32(piece.length)) return u32Problem(`sgList[${index}].length`, piece.length);
  if (keyed && !isU32(piece.lkey)) return u32Problem(`sgList[${index}].lkey`, piece.lkey);
  return undefined;
}

function pieceBytes(piece: LoosePiece): number {
  if (piece.bytes instanceof Uint8Array) return piece.bytes.length;
  return typeof piece.length === 'number' ? piece.length : 0;
}

/** Bytes of pieces that were checked. */
export function totalBytes(pieces: unknown): number {
  let total = 0;
  if (!isList(pieces)) return total;
  for (let i = 0; i < pieces.length; i += 1) {
    const piece = pieces[i];
    if (isObject(piece)) total += pieceBytes(piece);
  }
  return total;
}

/** Why a message cannot be gathered from these pieces, or undefined when it can. */
export function gatheringProblem(
  pieces: readonly unknown[],
  cap: QpCap,
  inline: boolean,
  maxMessageBytes: number,
): Problem | undefined {
  if (pieces.length > cap.maxSendSge) {
    return invalid(
      `sgList has ${pieces.length} pieces, but the QP takes ${cap.maxSendSge}`,
      'Ask for more by cap.maxSendSge of createQp',
    );
  }
  let total = 0;
  for (let i = 0; i < pieces.length; i += 1) {
    const value = pieces[i];
    if (isMissing(value)) return objectProblem(`sgList[${i}]`, value);
    const piece: LoosePiece = value;
    const problem =
      piece.bytes === undefined ? fieldsProblem(piece, i, !inline) : inlineProblem(piece.bytes, i, inline);
    if (problem !== undefined) return problem;
    total += pieceBytes(piece);
  }
  if (inline && total > cap.maxInlineData) {
    return invalid(
      `the inline data is ${total} bytes, but the QP takes ${cap.maxInlineData}`,
      'Ask for more by cap.maxInlineData of createQp, or register the memory and leave INLINE out',
    );
  }
  if (total > maxMessageBytes) {
    return invalid(`the message is ${total} bytes, but the port takes ${maxMessageBytes}`, 'Send it in pieces');
  }
  return undefined;
}

function inlineProblem(bytes: unknown, index: number, inline: boolean): Problem | undefined {
  if (!inline) {
    return invalid(
      `sgList[${index}] gives bytes, which only inline data can`,
      'Set SendFlags.INLINE, or register the memory and name it by mr.sge()',
    );
  }
  return bytes instanceof Uint8Array ? undefined : bytesProblem(`sgList[${index}].bytes`, bytes);
}

/** Why memory for a message cannot be named by these pieces, or undefined when it can. */
export function scatteringProblem(pieces: unknown, maxSge: number, queue: string, advice: string): Problem | undefined {
  if (!isList(pieces)) return listProblem('sgList', pieces);
  if (pieces.length > maxSge) {
    return invalid(`sgList has ${pieces.length} pieces, but the ${queue} takes ${maxSge}`, advice);
  }
  for (let i = 0; i < pieces.length; i += 1) {
    const problem = pieceProblem(pieces[i], i, true);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
