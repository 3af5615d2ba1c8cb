import type { StreamSocket } from '../rsocket/index.js';

/** The most that is read at once, as in Node. */
const CHUNK_BYTES = 64 * 1024;
/** The same for a reader that takes each chunk at once. Each takes a turn of the event loop, so longer ones save turns. */
const FLOWING_CHUNK_BYTES = 256 * 1024;

/** Reads into a program's own memory, in place of 'data' (`onread` of `node:net`). */
export interface OnReadOptions {
  /** The memory, or a function that gives it for each read. */
  readonly buffer: Uint8Array | (() => Uint8Array);
  /** Told what has come, at the beginning of the buffer; `false` pauses the socket. */
  readonly callback: (bytesRead: number, buffer: Uint8Array) => boolean | undefined;
}

/** What takes bytes: they are its own from then on. @returns false when it wants no more for now */
type Sink = (bytes: Uint8Array, byteLength: number) => boolean;

/** The way from a stream to its reader: nothing is taken that is not asked for, and everything is copied once. */
export class Incoming {
  isWanted = false;
  bytesRead = 0;
  readonly #allocate: (byteLength: number, most: number) => Uint8Array;
  readonly #sink: Sink;

  /** @param push as `Readable.push` */
  constructor(push: (bytes: Uint8Array) => boolean, onread: OnReadOptions | undefined) {
    if (onread === undefined) {
      this.#allocate = (byteLength, most) => Buffer.allocUnsafe(Math.min(byteLength, most));
      this.#sink = (bytes, byteLength) => push(byteLength === bytes.length ? bytes : bytes.subarray(0, byteLength));
    } else {
      const { buffer, callback } = onread;
      this.#allocate = typeof buffer === 'function' ? buffer : () => buffer;
      this.#sink = (bytes, byteLength) => callback(byteLength, bytes) !== false;
    }
  }

  /**
   * Hands on one chunk of the bytes that have come, if it is wanted: each has a turn of the event loop.
   *
   * @param isFlowing whether the reader takes it at once
   * @returns whether there was one
   */
  pull(stream: Pick<StreamSocket, 'readableBytes' | 'read'>, isFlowing: boolean): boolean {
    if (!this.isWanted) return false;
    const available = stream.readableBytes;
    if (available === 0) return false;
    const bytes = this.#allocate(available, isFlowing ? FLOWING_CHUNK_BYTES : CHUNK_BYTES);
    const byteLength = stream.read(bytes);
    // A program's own buffer may be of no length.
    if (byteLength === 0) return false;
    this.bytesRead += byteLength;
    if (!this.#sink(bytes, byteLength)) this.isWanted = false;
    return true;
  }
}
