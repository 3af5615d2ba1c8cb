import { UcsStatus } from '../wire/index.js';
import type { Completion, Waiting } from './endpoint.js';

export class PendingQueue {
  #waiting: Waiting[] = [];
  #isTrying = false;

  /** Whether whoever comes now has to wait behind others. */
  get isBehind(): boolean {
    return this.#waiting.length > 0 && !this.#isTrying;
  }

  add(waiting: Waiting): void {
    this.#waiting.push(waiting);
  }

  /** There is room, or there will never be any: has all try that find some. */
  dispatch(): void {
    if (this.#isTrying) return;
    this.#isTrying = true;
    try {
      while (this.#waiting.length > 0) {
        const [first] = this.#waiting;
        if (first.retry() === UcsStatus.UCS_ERR_NO_RESOURCE) break;
        // It may have taken all back.
        if (this.#waiting[0] === first) this.#waiting.shift();
      }
    } finally {
      this.#isTrying = false;
    }
  }

  purge(): Waiting[] {
    const purged = this.#waiting;
    this.#waiting = [];
    return purged;
  }
}

/** Those who wait until all is done that was begun before. What is begun is done in its order. */
export class FlushQueue {
  readonly #waiting: { readonly until: number; readonly completion: Completion }[] = [];
  #begun = 0;
  #done = 0;

  begun(): void {
    this.#begun += 1;
  }

  /** What was begun first of all that is under way is done. */
  done(): void {
    this.#done += 1;
    while (this.#waiting.length > 0 && this.#waiting[0].until <= this.#done)
      this.#waiting.shift()?.completion.onComplete(UcsStatus.UCS_OK);
  }

  flush(completion: Completion): UcsStatus {
    if (this.#begun === this.#done) return UcsStatus.UCS_OK;
    this.#waiting.push({ until: this.#begun, completion });
    return UcsStatus.UCS_INPROGRESS;
  }

  fail(status: UcsStatus): void {
    for (const { completion } of this.#waiting.splice(0)) completion.onComplete(status);
  }
}
