/** Threads that are gone without having asked again are forgotten at last. */
const MOST = 256;

/**
 * What commands have come to whose calls a signal took back, when that could not be undone: the kernel has the program make such a
 * call again, as it was, and it is told then what it has missed. To end an object twice would be refused.
 */
export class UndeliveredReplies<T> {
  readonly #byThread = new Map<number, { readonly command: Uint8Array; readonly outcome: T }>();

  keep(tid: number, command: Uint8Array, outcome: T): void {
    this.#byThread.delete(tid);
    for (const oldest of this.#byThread.keys()) {
      if (this.#byThread.size < MOST) break;
      this.#byThread.delete(oldest);
    }
    this.#byThread.set(tid, { command, outcome });
  }

  /** What the last command of a thread came to, if it is this one and the thread was not told; whatever else it asks, it has gone on. */
  take(tid: number, command: () => Uint8Array): T | undefined {
    const undelivered = this.#byThread.get(tid);
    if (undelivered === undefined) return undefined;
    this.#byThread.delete(tid);
    return Buffer.compare(undelivered.command, command()) === 0 ? undelivered.outcome : undefined;
  }
}
