import { assert } from '../../../device/ibta/index.js';
import { SEQUENCE_MASK } from './limits.js';

/**
 * What comes: where it lies, and what the peer is to be told so that it can go on. The peer writes one message behind the other into halves of
 * the receive buffer, in turn, and never across the end of one.
 */
export class Incoming {
  /** Bytes of a half. */
  readonly half: number;
  /** Lengths of the messages that were not read to their end, oldest first, in a ring. */
  readonly #lengths: Uint32Array;
  #oldest = 0;
  #waiting = 0;
  #writeAt = 0;
  #readAt = 0;
  #unread = 0;
  /** Bytes that the peer may write. */
  #granted: number;
  /** Bytes that were read, or never written, and that the peer may not write. */
  #free: number;
  /** Number of the next message that comes. */
  #arrived = 0;
  /** How many were read to their end. */
  #read = 0;
  /** Number of the first message that the peer may not send, as far as it was told. */
  #told: number;
  /** Once so many were read, the peer is told. */
  #due: number;
  /** Where, and in which entry of the peer's, the next half is named. */
  #grantAt: number;
  #entry: 0 | 1 = 1;

  /**
   * @param bytes of the receive buffer, an even number
   * @param window messages that may come before any is read
   */
  constructor(
    bytes: number,
    private readonly window: number,
  ) {
    this.half = bytes / 2;
    this.#granted = this.half;
    this.#free = this.half;
    this.#grantAt = this.half;
    this.#lengths = new Uint32Array(window);
    this.#told = window;
    this.#due = window >>> 1;
  }

  /** Bytes that have come and were not read. */
  get unread(): number {
    return this.#unread;
  }

  get readAt(): number {
    return this.#readAt;
  }

  /** How many of them lie in one piece. */
  get readable(): number {
    return Math.min(this.#unread, 2 * this.half - this.#readAt);
  }

  /** A message of data has come. @param isKept whether anybody will read it @returns why that cannot be */
  data(byteLength: number, isKept = true): string | undefined {
    if (byteLength === 0) return 'DATA of no bytes';
    const problem = this.#arrive();
    if (problem !== undefined) return problem;
    const room = Math.min(this.#granted, this.half - (this.#writeAt % this.half));
    if (byteLength > room) return `DATA of ${byteLength} bytes, where its buffer has room for ${room}`;
    this.#granted -= byteLength;
    this.#writeAt = (this.#writeAt + byteLength) % (2 * this.half);
    if (isKept) {
      this.#lengths[(this.#oldest + this.#waiting) % this.window] = byteLength;
      this.#waiting += 1;
      this.#unread += byteLength;
    } else {
      this.#free += byteLength;
      this.#finish();
    }
    return undefined;
  }

  /** A message that is counted and that nobody reads has come. @returns why that cannot be */
  other(): string | undefined {
    const problem = this.#arrive();
    if (problem === undefined) this.#finish();
    return problem;
  }

  /** So many bytes were read. */
  consume(byteLength: number): void {
    assert(byteLength <= this.#unread, 'more is read than has come');
    this.#unread -= byteLength;
    this.#free += byteLength;
    this.#readAt = (this.#readAt + byteLength) % (2 * this.half);
    for (let left = byteLength; left > 0;) {
      const length = this.#lengths[this.#oldest];
      if (left < length) {
        this.#lengths[this.#oldest] = length - left;
        return;
      }
      left -= length;
      this.#waiting -= 1;
      this.#oldest = (this.#oldest + 1) % this.window;
      this.#finish();
    }
  }

  /** Whether the peer is to be told of a half. */
  get isHalfDue(): boolean {
    return this.#free >= this.half;
  }

  /** Whether the peer is to be told of anything. */
  get isCreditDue(): boolean {
    return this.isHalfDue || ((this.#read - this.#due) << 16) >> 16 >= 0;
  }

  /** Up to which message the peer may send, 16 bits. */
  get limit(): number {
    return (this.#read + this.window) & SEQUENCE_MASK;
  }

  /** Which of the peer's entries the next half goes to. */
  get entry(): 0 | 1 {
    return this.#entry;
  }

  get grantAt(): number {
    return this.#grantAt;
  }

  /** The peer is told of {@link limit}, and of a half if one is due. */
  tell(): void {
    this.#told = this.limit;
    this.#due = (this.#read + (this.window >>> 1)) & SEQUENCE_MASK;
    if (!this.isHalfDue) return;
    this.#free -= this.half;
    this.#granted += this.half;
    this.#grantAt = this.half - this.#grantAt;
    this.#entry = this.#entry === 0 ? 1 : 0;
  }

  #arrive(): string | undefined {
    if (this.#arrived === this.#told) return `message ${this.#arrived}, where it has no credit left`;
    this.#arrived = (this.#arrived + 1) & SEQUENCE_MASK;
    return undefined;
  }

  #finish(): void {
    this.#read = (this.#read + 1) & SEQUENCE_MASK;
  }
}
