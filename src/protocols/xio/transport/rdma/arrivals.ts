import type { Body } from '../../wire/index.js';
import type { Borrowed } from './body-memory.js';

/** A message that has come, and waits for its body, or for those before it. */
export interface Arrival {
  readonly head: Uint8Array;
  readonly body: Body;
  readonly isLanded: boolean;
  readonly writtenBytes: number;
  /** What its body is READ into, until it is there. */
  reading: Borrowed | undefined;
}

/** Messages that cannot be delivered yet, in their order. There are no more than the peer has credit for. */
export class Arrivals {
  readonly #waiting: Arrival[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(arrival: Arrival): void {
    this.#waiting.push(arrival);
  }

  take(): Arrival | undefined {
    const first = this.#waiting.at(0);
    if (first === undefined || first.reading !== undefined) return undefined;
    return this.#waiting.shift();
  }

  find(landing: Body): Arrival | undefined {
    return this.#waiting.find(({ body }) => body === landing);
  }

  clear(): void {
    for (const { reading } of this.#waiting.splice(0)) reading?.release();
  }
}
