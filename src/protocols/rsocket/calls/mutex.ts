import { reasonOf } from './condition.js';

/** One after the other, in the order in which they came: what two parts of a program send at a time is not to be mixed. */
export class Mutex {
  readonly #waiting: (() => void)[] = [];
  #isLocked = false;

  get isLocked(): boolean {
    return this.#isLocked;
  }

  /** Does `work` once nobody else does. @throws (the promise rejects) the signal's reason; what `work` throws */
  async runExclusive<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#isLocked) await this.#handedOver(signal);
    this.#isLocked = true;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#isLocked = false;
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
