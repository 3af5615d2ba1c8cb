/** Reading capture files, classic pcap and pcapng, in pieces as they come. */
import { CaptureError, type CaptureFormat, type CaptureRecord, type CaptureStep } from './capture-format.js';
import { pcapFormat } from './pcap.js';
import { pcapngFormat } from './pcapng-reader.js';

/** Bytes by which the two formats are told apart. */
const MAGIC_BYTES = 4;

/** Takes a capture file in pieces and gives its frames: a live capture can be read while it is written. */
export class CaptureReader {
  #format: CaptureFormat | undefined;
  #rest: Uint8Array = new Uint8Array(0);
  /** Bytes before `#rest`. */
  #position = 0;
  #records = 0;

  /**
   * The frames that end in this piece.
   *
   * @throws CaptureError when the file is not a capture or is damaged, after the frames before that place
   */
  *push(piece: Uint8Array): Generator<CaptureRecord, void, undefined> {
    const bytes = this.#append(piece);
    let at = 0;
    try {
      if (this.#format === undefined) {
        if (bytes.length < MAGIC_BYTES) return;
        this.#format = pcapFormat(bytes) ?? pcapngFormat(bytes);
        if (this.#format === undefined) throw new CaptureError('this is neither a pcap nor a pcapng file');
      }
      for (;;) {
        const step = this.#step(this.#format, bytes, at);
        if (step === undefined) return;
        at += step.consumed;
        if (step.record === undefined) continue;
        this.#records += 1;
        yield step.record;
      }
    } finally {
      this.#rest = bytes.subarray(at);
      this.#position += at;
    }
  }

  /**
   * To be called after the last piece.
   *
   * @throws CaptureError when the file ends within a frame or before its own header
   */
  end(): void {
    if (this.#format === undefined) {
      throw new CaptureError(
        this.#rest.length === 0 ? 'the file is empty' : 'this is neither a pcap nor a pcapng file',
      );
    }
    if (this.#rest.length === 0) return;
    const { length } = this.#rest;
    throw new CaptureError(
      `the capture is cut short: it ends ${length} bytes into the item after packet ${this.#records} (byte ${this.#position})`,
    );
  }

  #step(format: CaptureFormat, bytes: Uint8Array, at: number): CaptureStep | undefined {
    try {
      return format.step(bytes, at);
    } catch (error) {
      if (!(error instanceof CaptureError)) throw error;
      throw new CaptureError(`${error.message}, after packet ${this.#records} (byte ${this.#position + at})`, {
        cause: error,
      });
    }
  }

  #append(piece: Uint8Array): Uint8Array {
    if (this.#rest.length === 0) return piece;
    const joined = new Uint8Array(this.#rest.length + piece.length);
    joined.set(this.#rest);
    joined.set(piece, this.#rest.length);
    return joined;
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
