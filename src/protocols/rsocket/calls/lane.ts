import { reasonOf } from './condition.js';

/** One after the other, in the order in which they came: what two parts of a program send at a time is not to be mixed. */
export class Lane {
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Does `work` once nobody else does. @throws (the promise rejects) the signal's reason; what `work` throws */
  async during<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#isTaken) await this.#handedOver(signal);
    this.#isTaken = true;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#isTaken = false;
      else next();
    }
  }

  #handedOver(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const go = (): void => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        if (signal !== undefined) reject(reasonOf(signal));
      };
      this.#waiting.push(go);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
