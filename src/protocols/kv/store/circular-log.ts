import { assert } from '../../../device/ibta/index.js';
import type { EntryAllocator } from './span.js';

/** Ends the entry at a position, if it has not gone before. @returns how many bytes it takes */
export type Overrun = (position: number) => number;

/**
 * The whole memory as a ring: each entry goes behind the newest, and the oldest make room. One that is set again in the same length stays in its place while that is among the newer
 * half, so that a few that are set all the time do not drive out all others; so none goes before half of the memory was written since it was set. None goes over the end of the memory; what is left there stays empty
 * for that lap. The oldest is ended before anything is written over it, so that no slot ever leads to what is no entry.
 */
export class CircularLog implements EntryAllocator {
  #tail = 0;
  #head = 0;
  /** While the newest lie before the oldest: where the lap of the oldest ends. */
  #lapEnd = 0;
  #isWrapped = false;

  constructor(
    private readonly capacity: number,
    private readonly overrun: Overrun,
  ) {}

  /** @param byteLength at most the capacity */
  reserve(byteLength: number): number {
    assert(byteLength <= this.capacity, 'an entry that is longer than the log');
    while (!this.#hasRoom(byteLength))
      if (this.#isWrapped) this.#advance();
      else this.#wrap();
    const position = this.#head;
    this.#head += byteLength;
    return position;
  }

  /** Its bytes come back when it is the oldest. */
  release(): void {
    // Nothing is known of entries that have gone but their lengths, which stay in them.
  }

  /** Not among the older half: what is set again and again would go as if it had been set once. */
  fits(position: number, before: number, after: number): boolean {
    return before === after && this.#newerBytes(position) <= this.capacity / 2;
  }

  #newerBytes(position: number): number {
    return position < this.#head ? this.#head - position : this.#lapEnd - position + this.#head;
  }

  #hasRoom(byteLength: number): boolean {
    return this.#head + byteLength <= (this.#isWrapped ? this.#tail : this.capacity);
  }

  #wrap(): void {
    this.#lapEnd = this.#head;
    this.#head = 0;
    this.#isWrapped = true;
  }

  #advance(): void {
    this.#tail += this.overrun(this.#tail);
    if (this.#tail < this.#lapEnd) return;
    this.#tail = 0;
    this.#isWrapped = false;
  }
}
