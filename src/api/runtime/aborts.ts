/** What is to be done when a signal is aborted, by all who wait for it. */
class Actions {
  readonly #actions = new Set<() => void>();

  constructor(private readonly signal: AbortSignal) {}

  add(action: () => void): void {
    if (this.#actions.size === 0) this.signal.addEventListener('abort', this.#run, { once: true });
    this.#actions.add(action);
  }

  delete(action: () => void): void {
    if (!this.#actions.delete(action) || this.#actions.size > 0) return;
    this.signal.removeEventListener('abort', this.#run);
    ACTIONS.delete(this.signal);
  }

  readonly #run = (): void => {
    ACTIONS.delete(this.signal);
    // One action may take another back, which then does not happen any more.
    for (const action of [...this.#actions])
      if (this.#actions.delete(action)) {
        try {
          action();
        } catch (error) {
          // As a signal does it: the others are told all the same.
          queueMicrotask(() => {
            throw error;
          });
        }
      }
  };
}

const ACTIONS = new WeakMap<AbortSignal, Actions>();

/**
 * Has something done when a signal is aborted, once; never where it was aborted before. However many wait for a signal, it has one listener of ours: Node warns of
 * more than ten, since it takes them for a leak, and a program may well have one signal for all that it does.
 *
 * @returns takes it back. Idempotent
 */
export function whenAborted(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) return () => undefined;
  let actions = ACTIONS.get(signal);
  if (actions === undefined) ACTIONS.set(signal, (actions = new Actions(signal)));
  // The same function may be given twice.
  const own = (): void => action();
  const all = actions;
  all.add(own);
  return () => all.delete(own);
}
