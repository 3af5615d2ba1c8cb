import { type Body, lengthOf, piecesOf } from '../../wire/index.js';
import { assert } from '../../../../device/ibta/index.js';
import { FrameKind, MAX_ALONG_BYTES, MAX_HEAD_BYTES, Prefix, PREFIX_BYTES } from './wire.js';

/** Whoever is told what a {@link FrameReader} has read. It may be closed by any of these. */
export interface FrameSink {
  readonly isReading: boolean;
  /** Where the body of a message is to lie. Undefined: anywhere. */
  landing(head: Uint8Array, bodyBytes: number): Body | undefined;
  /** Both are valid until this returns, but for a body that has landed. That is as it is now: its program may have transferred it. */
  onFrame(head: Uint8Array, body: Body, isLanded: boolean): void;
  /** The peer asks whether anybody is there. */
  onProbe(): void;
  /** The peer breaks the rules, or there is no memory for what it sends. */
  onFault(fault: 'invalid' | 'memory', text: string): void;
}

/** A buffer for frames that come in pieces is kept for the next one up to this length. */
const KEPT_BYTES = 4096;
const NOTHING = new Uint8Array(0);

/** Takes frames out of the bytes of a peer, however they are cut. Does not throw, whatever they are. */
export class FrameReader {
  readonly #prefix = new Prefix();
  /** The beginning of a frame whose rest has not come; the head of one whose body lands. */
  #begun: Uint8Array = NOTHING;
  #begunBytes = 0;
  /** Bytes of the frame that are to be together before anything is done: 0 while even its prefix is incomplete. */
  #wantedBytes = 0;
  /** Where the body lies, while it comes. */
  #landing: Body | undefined;
  #landedBytes = 0;
  /** The pieces of that, and where each ends. */
  #pieces: readonly Uint8Array[] = [];
  #ends: readonly number[] = [];
  #piece = 0;
  #isRedirected = false;

  constructor(
    private readonly maxBodyBytes: number,
    private readonly sink: FrameSink,
  ) {}

  get isWithinFrame(): boolean {
    return this.#begunBytes > 0;
  }

  /** What still comes of the body that lies there goes nowhere. */
  redirect(landing: Body): void {
    if (landing === this.#landing) this.#isRedirected = true;
  }

  /** Nothing is written to anybody's memory any more. */
  stop(): void {
    this.#landing = undefined;
    this.#pieces = [];
    this.#begun = NOTHING;
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && this.sink.isReading;) {
      if (this.#landing !== undefined) at = this.#land(bytes, at, this.#landing);
      else if (this.#begunBytes > 0) at = this.#goOn(bytes, at);
      else at = this.#begin(bytes, at);
    }
  }

  /** A frame that is all there is told from where it lies. */
  #begin(bytes: Uint8Array, at: number): number {
    const here = bytes.length - at;
    if (here < PREFIX_BYTES) return this.#keep(bytes, at, PREFIX_BYTES);
    const wanted = this.#wanted(bytes, at);
    if (wanted === 0) return bytes.length;
    if (here < wanted) {
      this.#wantedBytes = wanted;
      return this.#keep(bytes, at, wanted);
    }
    this.#tell(bytes, at);
    return at + wanted;
  }

  #goOn(bytes: Uint8Array, at: number): number {
    const wanted = this.#wantedBytes === 0 ? PREFIX_BYTES : this.#wantedBytes;
    const end = this.#keep(bytes, at, wanted);
    if (this.#begunBytes < wanted) return end;
    if (this.#wantedBytes === 0) {
      this.#wantedBytes = this.#wanted(this.#begun, 0);
      if (this.#wantedBytes === 0) return bytes.length;
      if (this.#begunBytes < this.#wantedBytes) return end;
    }
    this.#tell(this.#begun, 0);
    // A head is kept until its body has come.
    if (this.#landing === undefined) this.#over();
    return end;
  }

  /** Keeps bytes of a frame until so many of it are there. @returns where those behind begin */
  #keep(bytes: Uint8Array, at: number, wanted: number): number {
    if (this.#begun.length < wanted) {
      const longer = new Uint8Array(wanted);
      longer.set(this.#begun.subarray(0, this.#begunBytes));
      this.#begun = longer;
    }
    const end = Math.min(bytes.length, at + wanted - this.#begunBytes);
    this.#begun.set(bytes.subarray(at, end), this.#begunBytes);
    this.#begunBytes += end - at;
    return end;
  }

  #over(): void {
    this.#begunBytes = 0;
    this.#wantedBytes = 0;
    if (this.#begun.length > KEPT_BYTES) this.#begun = NOTHING;
  }

  /** Reads a prefix. @returns bytes of the frame that are to be together; 0 when it breaks the rules */
  #wanted(from: Uint8Array, at: number): number {
    const prefix = this.#prefix;
    prefix.read(from, at);
    const { kind, headBytes, bodyBytes } = prefix;
    const isMessage = kind === FrameKind.ALONG << 8 || kind === FrameKind.LANDED << 8;
    if (!isMessage && kind !== FrameKind.PROBE << 8 && kind !== FrameKind.ANSWER << 8)
      return this.#refuse(`there are no frames of kind ${kind}`);
    if (headBytes > (isMessage ? MAX_HEAD_BYTES : 0)) return this.#refuse(`a head of ${headBytes} bytes is too long`);
    if (bodyBytes > (isMessage ? this.maxBodyBytes : 0))
      return this.#refuse(`a body of ${bodyBytes} bytes is too long`);
    if (kind === FrameKind.LANDED << 8) {
      if (bodyBytes === 0) return this.#refuse('a body of no bytes cannot land');
      return PREFIX_BYTES + headBytes;
    }
    if (bodyBytes > MAX_ALONG_BYTES) return this.#refuse(`a body of ${bodyBytes} bytes cannot go along with its head`);
    return PREFIX_BYTES + headBytes + bodyBytes;
  }

  #refuse(text: string): 0 {
    this.sink.onFault('invalid', text);
    return 0;
  }

  /** Tells of the frame there, or begins to have its body land. */
  #tell(from: Uint8Array, at: number): void {
    const { kind, headBytes, bodyBytes } = this.#prefix;
    if (kind === FrameKind.ANSWER << 8) return;
    if (kind === FrameKind.PROBE << 8) {
      this.sink.onProbe();
      return;
    }
    const headAt = at + PREFIX_BYTES;
    const bodyAt = headAt + headBytes;
    const head = from.subarray(headAt, bodyAt);
    if (kind === FrameKind.ALONG << 8) this.sink.onFrame(head, from.subarray(bodyAt, bodyAt + bodyBytes), false);
    else this.#beginLanding(from, at, head);
  }

  #beginLanding(from: Uint8Array, at: number, head: Uint8Array): void {
    const { bodyBytes } = this.#prefix;
    let landing = this.sink.landing(head, bodyBytes);
    if (!this.sink.isReading) return;
    landing ??= memoryFor(bodyBytes);
    if (landing === undefined) {
      this.#lack();
      return;
    }
    assert(lengthOf(landing) === bodyBytes, `a body of ${bodyBytes} bytes cannot land in ${lengthOf(landing)}`);
    if (from !== this.#begun) this.#keep(from, at, PREFIX_BYTES + head.length);
    this.#landing = landing;
    this.#pieces = piecesOf(landing);
    let end = 0;
    this.#ends = this.#pieces.map(({ byteLength }) => (end += byteLength));
    this.#piece = 0;
    this.#landedBytes = 0;
    this.#isRedirected = false;
  }

  #land(bytes: Uint8Array, at: number, landing: Body): number {
    const { headBytes, bodyBytes } = this.#prefix;
    const piece = this.#pieces[this.#piece];
    const pieceEnd = this.#ends[this.#piece];
    const pieceBegin = this.#piece === 0 ? 0 : this.#ends[this.#piece - 1];
    const end = Math.min(bytes.length, at + pieceEnd - this.#landedBytes);
    // A program may have transferred its memory to another thread.
    const isThere = piece.byteLength === pieceEnd - pieceBegin;
    if (isThere && !this.#isRedirected) piece.set(bytes.subarray(at, end), this.#landedBytes - pieceBegin);
    this.#landedBytes += end - at;
    if (this.#landedBytes < pieceEnd) return end;
    this.#piece += 1;
    if (this.#landedBytes < bodyBytes) return end;
    this.#landing = undefined;
    this.#pieces = [];
    this.sink.onFrame(this.#begun.subarray(PREFIX_BYTES, PREFIX_BYTES + headBytes), landing, true);
    this.#over();
    return end;
  }

  #lack(): void {
    this.sink.onFault('memory', `there is no room for a body of ${this.#prefix.bodyBytes} bytes`);
  }
}

/** The system gives memory as it is written to: a body that never comes takes none. */
function memoryFor(bodyBytes: number): Uint8Array | undefined {
  try {
    return new Uint8Array(bodyBytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
