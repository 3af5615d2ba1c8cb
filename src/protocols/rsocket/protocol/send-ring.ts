import { assert } from '../../../device/ibta/index.js';

/** Which bytes of the send buffer are under way. They come back in the order in which they went. */
export class SendRing {
  #at = 0;
  #used = 0;

  /** @param size bytes of the buffer */
  constructor(readonly size: number) {}

  /** Bytes that are not under way. */
  get free(): number {
    return this.size - this.#used;
  }

  /** Where the next bytes go. */
  get at(): number {
    return this.#at;
  }

  /** Of so many bytes how many lie there in one piece; the rest is at the beginning. */
  beforeEnd(byteLength: number): number {
    return Math.min(byteLength, this.size - this.#at);
  }

  take(byteLength: number): void {
    assert(byteLength <= this.free, 'bytes are sent from where others are under way');
    this.#used += byteLength;
    this.#at = (this.#at + byteLength) % this.size;
  }

  giveBack(byteLength: number): void {
    assert(byteLength <= this.#used, 'more bytes come back than were sent');
    this.#used -= byteLength;
  }
}
