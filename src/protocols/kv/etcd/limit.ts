import { runtime } from '../../../api/runtime/index.js';

/** Resolves in so many ms, or when the signal comes. It does not keep the process alive. */
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stop = runtime().chore(delayMs, end);
    signal.addEventListener('abort', end, { once: true });
  });
}

/**
 * A signal that comes with another one, when time is up, or when it is disposed of. (`AbortSignal.any` leaves something behind at the other one each time, which for one that
 * lives as long as a server adds up.)
 */
export class Limit implements Disposable {
  readonly #controller = new AbortController();
  readonly #end: () => void;

  constructor(other: AbortSignal, delayMs: number) {
    const abort = (): void => this.#controller.abort(other.reason);
    const late = (): void => this.#controller.abort(new Error(`no answer within ${Math.round(delayMs)} ms`));
    const stopTimer = runtime().chore(delayMs, late);
    other.addEventListener('abort', abort, { once: true });
    this.#end = () => {
      stopTimer();
      other.removeEventListener('abort', abort);
    };
    if (other.aborted) abort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  [Symbol.dispose](): void {
    this.#end();
    this.#controller.abort();
  }
}
