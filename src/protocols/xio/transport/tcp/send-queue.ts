import { type Body, lengthOf, piecesOf, putBody } from '../../wire/index.js';
import type { Held } from '../index.js';
import type { ByteStream } from './byte-stream.js';
import { type FrameKind, MAX_ALONG_BYTES, PREFIX_BYTES, writePrefix } from './wire.js';

/** Memory that frames are put together in before they are written. */
interface Slab {
  readonly bytes: Uint8Array;
  filledBytes: number;
}

/** Longer than the longest frame whose body goes along. */
const SLAB_BYTES = 65_536;
/** As many are kept while nobody uses them. */
const MAX_SPARE = 16;

const spare: Slab[] = [];

/** An empty slab. Links that have nothing to send have none. */
function takeSlab(): Slab {
  return spare.pop() ?? { bytes: new Uint8Array(SLAB_BYTES), filledBytes: 0 };
}

/** Nobody reads it any more. */
function giveSlab(slab: Slab): void {
  slab.filledBytes = 0;
  if (spare.length < MAX_SPARE) spare.push(slab);
}

const NOTHING = new Uint8Array(0);

/** A piece of a body that waits to be written, in memory of the program's. */
class WaitingBody implements Held {
  /** How much of it is not written. */
  restBytes: number;
  #rest: Uint8Array;
  #isOurs = false;

  constructor(bytes: Uint8Array) {
    this.#rest = bytes;
    this.restBytes = bytes.length;
  }

  /** Puts the next of its bytes there. @returns false when they are lost: the program has transferred its memory to another thread, say */
  moveTo(slab: Slab): boolean {
    if (this.#rest.byteLength < this.restBytes) return false;
    const count = Math.min(this.restBytes, SLAB_BYTES - slab.filledBytes);
    slab.bytes.set(this.#rest.subarray(0, count), slab.filledBytes);
    slab.filledBytes += count;
    this.restBytes -= count;
    this.#rest = this.#rest.subarray(count);
    if (this.restBytes === 0) this.drop();
    return true;
  }

  /** It is not needed any more. */
  drop(): void {
    this.#rest = NOTHING;
    this.#isOurs = true;
  }

  /** A peer that says that it is done with what was not sent gets it all the same: it has been told how long it is. */
  release(): void {
    this.takeBack();
  }

  takeBack(): void {
    if (this.#isOurs) return;
    this.#isOurs = true;
    try {
      this.#rest = new Uint8Array(this.#rest);
    } catch {
      // There is no memory for a copy, or none of the program's any more.
      this.#rest = NOTHING;
    }
  }
}

class WaitingPieces implements Held {
  constructor(private readonly pieces: readonly WaitingBody[]) {}

  release(): void {
    for (const piece of this.pieces) piece.release();
  }

  takeBack(): void {
    for (const piece of this.pieces) piece.takeBack();
  }
}

/**
 * Frames that wait to be written, of which several go together. All of it is copied just before: the system keeps what a write has not sent at once, and would read
 * memory that the program may have back by then.
 */
export class SendQueue {
  readonly #waiting: (Slab | WaitingBody)[] = [];
  #waitingBytes = 0;
  #written: Slab | undefined;

  constructor(private readonly stream: ByteStream) {}

  /** Bytes that are not sent. */
  get byteLength(): number {
    return this.#waitingBytes + this.stream.unsentBytes;
  }

  /** Adds a message. @returns undefined when all of it was copied */
  add(kind: FrameKind, head: Uint8Array, body: Body): Held | undefined {
    const bodyBytes = lengthOf(body);
    const isCopied = bodyBytes <= MAX_ALONG_BYTES;
    const frameBytes = PREFIX_BYTES + head.length + (isCopied ? bodyBytes : 0);
    const slab = this.#slabFor(frameBytes);
    const { bytes, filledBytes } = slab;
    writePrefix(bytes, filledBytes, kind, head.length, bodyBytes);
    bytes.set(head, filledBytes + PREFIX_BYTES);
    if (isCopied) putBody(body, bytes, filledBytes + PREFIX_BYTES + head.length);
    slab.filledBytes += frameBytes;
    this.#waitingBytes += frameBytes;
    if (isCopied) return undefined;
    const waiting = piecesOf(body).map((piece) => new WaitingBody(piece));
    this.#waiting.push(...waiting);
    this.#waitingBytes += bodyBytes;
    return waiting.length === 1 ? waiting[0] : new WaitingPieces(waiting);
  }

  addBare(kind: FrameKind): void {
    this.add(kind, NOTHING, NOTHING);
  }

  /** Writes as much as the system takes. @returns false when the rest of a body is lost */
  pump(): boolean {
    while (this.stream.unsentBytes === 0) {
      if (this.#written !== undefined) giveSlab(this.#written);
      this.#written = undefined;
      if (this.#waitingBytes === 0) return true;
      const slab = this.#filled();
      if (slab === undefined) return false;
      this.#waitingBytes -= slab.filledBytes;
      this.#written = slab;
      this.stream.write(slab.bytes.subarray(0, slab.filledBytes));
    }
    return true;
  }

  /** Nothing more is sent. The system may still read what was written. */
  drop(): void {
    for (const waiting of this.#waiting)
      if (waiting instanceof WaitingBody) waiting.drop();
      else giveSlab(waiting);
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
    this.#written = undefined;
  }

  #slabFor(frameBytes: number): Slab {
    const last = this.#waiting.at(-1);
    if (last !== undefined && !(last instanceof WaitingBody) && last.filledBytes + frameBytes <= SLAB_BYTES)
      return last;
    const slab = takeSlab();
    this.#waiting.push(slab);
    return slab;
  }

  /** A slab with the next that is to be written: as much as it takes, since every write costs. Undefined: the rest of a body is lost. */
  #filled(): Slab | undefined {
    const slab = this.#firstSlab();
    for (;;) {
      const next = this.#waiting.at(0);
      if (next === undefined || slab.filledBytes === SLAB_BYTES) return slab;
      if (next instanceof WaitingBody) {
        if (!next.moveTo(slab)) return undefined;
        if (next.restBytes > 0) return slab;
      } else {
        if (slab.filledBytes + next.filledBytes > SLAB_BYTES) return slab;
        slab.bytes.set(next.bytes.subarray(0, next.filledBytes), slab.filledBytes);
        slab.filledBytes += next.filledBytes;
        giveSlab(next);
      }
      this.#waiting.shift();
    }
  }

  #firstSlab(): Slab {
    const first = this.#waiting[0];
    if (first instanceof WaitingBody) return takeSlab();
    this.#waiting.shift();
    return first;
  }
}
