/** Reading capture files, classic pcap and pcapng, in pieces as they come. */
import { CaptureError, type CaptureFormat, type CaptureRecord, FrameCursor, NS_PER_SECOND } from './capture-format.js';
import { pcapFormat } from './pcap.js';
import { pcapngFormat } from './pcapng-reader.js';

/** Bytes by which the two formats are told apart. */
const MAGIC_BYTES = 4;
const DIRECTIONS = [undefined, 'in', 'out'] as const;
const text = new TextDecoder();

/** The frames of a capture file that comes in pieces, one at a time, without an object for any of them. */
export class CaptureFrames {
  /** The current frame, in {@link bytes}. */
  readonly frame = new FrameCursor();
  /** Holds the current frame, until `next` is called again. */
  bytes: Uint8Array = new Uint8Array(0);
  /** Frames read so far: the current one's number, from 1 on. */
  count = 0;
  #format: CaptureFormat | undefined;
  #at = 0;
  /** Bytes of the file before {@link bytes}. */
  #position = 0;
  /** Joins the end of a piece with the next one. */
  #joint = new Uint8Array(0);

  /** Takes the next piece, after {@link next} has returned false: then the memory of the piece before may be used again. */
  feed(piece: Uint8Array): void {
    const rest = this.bytes.length - this.#at;
    this.#position += this.#at;
    if (rest === 0) this.bytes = piece;
    else {
      this.#keep(rest + piece.length);
      this.#joint.set(piece, rest);
      this.bytes = this.#joint.subarray(0, rest + piece.length);
    }
    this.#at = 0;
  }

  /** Moves what is left of the bytes to the beginning of the joint, which then has room for so many. */
  #keep(length: number): void {
    const joint = this.#joint.length < length ? new Uint8Array(2 * length) : this.#joint;
    joint.set(this.bytes.subarray(this.#at));
    this.#joint = joint;
  }

  /**
   * Reads the next frame.
   *
   * @returns false if the pieces so far hold no further frame
   * @throws CaptureError when the file is not a capture or is damaged
   */
  next(): boolean {
    if (this.#format === undefined) {
      if (this.bytes.length < MAGIC_BYTES) {
        this.#stash();
        return false;
      }
      this.#format = pcapFormat(this.bytes) ?? pcapngFormat(this.bytes);
      if (this.#format === undefined) throw new CaptureError('this is neither a pcap nor a pcapng file');
    }
    for (;;) {
      const consumed = this.#step(this.#format);
      if (consumed === 0) {
        this.#stash();
        return false;
      }
      this.#at += consumed;
      if (!this.#format.isFrame) continue;
      this.count += 1;
      return true;
    }
  }

  /** Keeps the beginning of an item whose end is not there yet. */
  #stash(): void {
    const rest = this.bytes.length - this.#at;
    this.#keep(rest);
    this.#position += this.#at;
    this.bytes = this.#joint.subarray(0, rest);
    this.#at = 0;
  }

  /**
   * To be called after the last piece.
   *
   * @throws CaptureError when the file ends within a frame or before its own header
   */
  end(): void {
    const rest = this.bytes.length - this.#at;
    if (this.#format === undefined) {
      throw new CaptureError(rest === 0 ? 'the file is empty' : 'this is neither a pcap nor a pcapng file');
    }
    if (rest === 0) return;
    const position = this.#position + this.#at;
    throw new CaptureError(
      `the capture is cut short: it ends ${rest} bytes into the item after packet ${this.count} (byte ${position})`,
    );
  }

  /** What is written beside the current frame. */
  get comment(): string | undefined {
    const { commentBegin, commentEnd } = this.frame;
    return commentBegin === 0 ? undefined : text.decode(this.bytes.subarray(commentBegin, commentEnd));
  }

  #step(format: CaptureFormat): number {
    try {
      return format.step(this.bytes, this.#at, this.frame);
    } catch (error) {
      if (!(error instanceof CaptureError)) throw error;
      const position = this.#position + this.#at;
      throw new CaptureError(`${error.message}, after packet ${this.count} (byte ${position})`, { cause: error });
    }
  }
}

/** The same with an object for each frame. */
export class CaptureReader {
  readonly #frames = new CaptureFrames();

  /**
   * The frames that end in this piece.
   *
   * @throws CaptureError when the file is not a capture or is damaged, after the frames before that place
   */
  *push(piece: Uint8Array): Generator<CaptureRecord, void, undefined> {
    const frames = this.#frames;
    frames.feed(piece);
    while (frames.next()) {
      const { seconds, nanoseconds, linkType, begin, end, direction, originalLength } = frames.frame;
      yield {
        timestampNs: BigInt(seconds) * BigInt(NS_PER_SECOND) + BigInt(nanoseconds),
        linkType,
        data: frames.bytes.slice(begin, end),
        direction: DIRECTIONS[direction],
        comment: frames.comment,
        originalLength,
      };
    }
  }

  /**
   * To be called after the last piece.
   *
   * @throws CaptureError when the file ends within a frame or before its own header
   */
  end(): void {
    this.#frames.end();
  }
}

/**
 * The frames of a whole capture file.
 *
 * @throws CaptureError as {@link CaptureReader} does
 */
export function* readCapture(bytes: Uint8Array): Generator<CaptureRecord, void, undefined> {
  const reader = new CaptureReader();
  yield* reader.push(bytes);
  reader.end();
}
