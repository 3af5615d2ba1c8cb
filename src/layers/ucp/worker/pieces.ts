import { invalid, refuse, show } from '../../../api/verbs/index.js';
import { checkView } from './arguments.js';

/** Memory of a message: in one piece, or in several that follow each other (`UCP_DATATYPE_IOV`). */
export type Pieces = Uint8Array | readonly Uint8Array[];

/** @throws VerbsError EINVAL */
export function checkPieces(call: string, name: string, pieces: Pieces): void {
  if (!Array.isArray(pieces)) {
    if (!(pieces instanceof Uint8Array))
      refuse(call, invalid(`${name} is ${show(pieces)}`, 'It is a Uint8Array, or an array of such'));
    return;
  }
  for (const [i, piece] of pieces.entries()) checkView(call, `${name}[${i}]`, piece as Uint8Array);
}

/** As many bytes in one piece; what is one already is the same. */
export function inOne(pieces: Pieces): Uint8Array {
  if (pieces instanceof Uint8Array) return pieces;
  return new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
}

/** The bytes of all in one piece: a copy, unless they are in one already. */
export function gathered(pieces: Pieces): Uint8Array {
  const whole = inOne(pieces);
  if (pieces instanceof Uint8Array) return whole;
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Puts bytes where the pieces are, as far as they go. */
export function scatter(bytes: Uint8Array, pieces: readonly Uint8Array[]): void {
  let at = 0;
  for (const piece of pieces) {
    piece.set(bytes.subarray(at, at + piece.length));
    at += piece.length;
  }
}
