import { assert } from '../ibta/index.js';
import type { Backlog } from './core.js';

/** How many requests wait at all listeners together. */
export interface Pending {
  count: number;
}

/** A port at which requests are taken. */
export class Listener implements Backlog {
  #waiting = 0;

  constructor(
    readonly listenId: number,
    private readonly limit: number,
    private readonly pending: Pending,
    private readonly maxPending: number,
  ) {}

  enter(): boolean {
    if (this.#waiting >= this.limit || this.pending.count >= this.maxPending) return false;
    this.#waiting += 1;
    this.pending.count += 1;
    return true;
  }

  leave(): void {
    assert(this.#waiting > 0 && this.pending.count > 0, 'a request is answered that did not wait');
    this.#waiting -= 1;
    this.pending.count -= 1;
  }
}
