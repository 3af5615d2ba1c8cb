import type { WaitingRequest } from './core.js';

/** How many requests wait for an answer at all listeners together. */
export interface Pending {
  count: number;
}

/** A port at which requests are taken. */
export class Listener {
  /** Requests that the program has not taken. */
  #waiting = 0;

  constructor(
    readonly listenId: number,
    private readonly backlog: number,
    private readonly pending: Pending,
    private readonly maxPending: number,
  ) {}

  /** Takes a place for a request. @returns undefined when all are taken */
  enter(): WaitingRequest | undefined {
    if (this.#waiting >= this.backlog || this.pending.count >= this.maxPending) return undefined;
    this.#waiting += 1;
    this.pending.count += 1;
    let isTaken = false;
    let isAnswered = false;
    const taken = (): void => {
      if (!isTaken) this.#waiting -= 1;
      isTaken = true;
    };
    const answered = (): void => {
      taken();
      if (!isAnswered) this.pending.count -= 1;
      isAnswered = true;
    };
    return { taken, answered };
  }
}
