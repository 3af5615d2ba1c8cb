// The memory of bodies is programs', who may transfer it at any time. What is asked here is `byteLength`: in code that V8 11.3 (Node 20) has compiled, `length` of a view
// stays what it was when its buffer was transferred, once the code has met views of memory that can grow. JavaScript throws at whoever copies from there, or to there, be it no
// byte at all: so nothing is copied where there is nothing.

/** A copy of bytes in separate memory: those of a Buffer of Node's share theirs when they are sliced. Of what a program has transferred there are none. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === 0 ? new Uint8Array(0) : new Uint8Array(bytes);
}

/** A body: in one piece, or in several of which none is empty. */
export type Body = Uint8Array | readonly Uint8Array[];

/** As many pieces can a body have: what Accelio allows. */
export const MAX_PIECES = 256;

const NOTHING = new Uint8Array(0);

export function isOnePiece(body: Body): body is Uint8Array {
  return body instanceof Uint8Array;
}

export function bodyOf(pieces: readonly Uint8Array[]): Body {
  const filled = pieces.filter(({ byteLength }) => byteLength > 0);
  return filled.length > 1 ? filled : (filled.at(0) ?? NOTHING);
}

/** Bytes of a body. */
export function lengthOf(body: Body): number {
  if (isOnePiece(body)) return body.byteLength;
  let length = 0;
  for (const piece of body) length += piece.byteLength;
  return length;
}

export function piecesOf(body: Body): readonly Uint8Array[] {
  if (!isOnePiece(body)) return body;
  return body.byteLength === 0 ? [] : [body];
}

/** Puts a body there, from that byte on. */
export function putBody(body: Body, bytes: Uint8Array, offset: number): void {
  if (isOnePiece(body)) {
    if (body.byteLength > 0) bytes.set(body, offset);
    return;
  }
  let at = offset;
  for (const piece of body) {
    const { byteLength } = piece;
    if (byteLength > 0) bytes.set(piece, at);
    at += byteLength;
  }
}

/** A copy of a body, in one piece of memory of its own. */
export function gather(body: Body): Uint8Array {
  if (isOnePiece(body)) return copyOf(body);
  const bytes = new Uint8Array(lengthOf(body));
  putBody(body, bytes, 0);
  return bytes;
}

/** Puts bytes into a body, which is at least as long. */
export function scatter(bytes: Uint8Array, body: Body): void {
  if (isOnePiece(body)) {
    if (bytes.length > 0) body.set(bytes);
    return;
  }
  let at = 0;
  for (const piece of body) {
    const { byteLength } = piece;
    if (at >= bytes.length) return;
    if (byteLength > 0) piece.set(bytes.subarray(at, at + byteLength));
    at += byteLength;
  }
}

/** Some bytes of a body, where they lie. It has them. */
export function part(body: Body, offset: number, length: number): Body {
  if (isOnePiece(body))
    return offset === 0 && length === body.byteLength ? body : body.subarray(offset, offset + length);
  const pieces: Uint8Array[] = [];
  let begin = 0;
  for (const piece of body) {
    const from = Math.max(0, offset - begin);
    const to = Math.min(piece.byteLength, offset + length - begin);
    if (from < to) pieces.push(piece.subarray(from, to));
    begin += piece.byteLength;
  }
  return bodyOf(pieces);
}
