/** A condition variable: `ring` wakes all waiters, and each checks again what it waits for. */
export class Condition {
  #waiting: (() => void)[] = [];

  ring(): void {
    if (this.#waiting.length === 0) return;
    const woken = this.#waiting;
    this.#waiting = [];
    for (const wake of woken) wake();
  }

  /** Calls `wake` once, at the next ring. @returns cancels that */
  onRing(wake: () => void): () => void {
    this.#waiting.push(wake);
    return () => {
      const at = this.#waiting.indexOf(wake);
      if (at >= 0) this.#waiting.splice(at, 1);
    };
  }

  /** Resolves at the next ring. @throws (the promise rejects) the signal's reason */
  rung(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal === undefined) {
        this.#waiting.push(resolve);
        return;
      }
      if (signal.aborted) {
        reject(reasonOf(signal));
        return;
      }
      const abort = (): void => {
        takeBack();
        reject(reasonOf(signal));
      };
      const takeBack = this.onRing(() => {
        signal.removeEventListener('abort', abort);
        resolve();
      });
      signal.addEventListener('abort', abort, { once: true });
    });
  }
}

export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
