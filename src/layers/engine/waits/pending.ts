import { timedOut, type WaitOptions } from './wait-options.js';

/** A clock that calls back: the engine is one. */
export interface Timers {
  /** @returns takes it back */
  timer(delayMs: number, action: () => void): () => void;
}

/**
 * What a program waits for, until it is done, has failed, or the program gives up: whichever comes first settles the promise, and
 * nothing that comes later does.
 */
export abstract class Pending<T> {
  readonly promise: Promise<T>;
  #settle: { readonly resolve: (value: T) => void; readonly reject: (error: unknown) => void } | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(readonly call: string) {
    this.promise = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  /** The program has given up: what it named is not to be touched from now on. Called before the promise rejects. */
  protected abstract onGivenUp(): void;

  /** Why it rejects when its time is over. */
  protected lateness(timeoutMs: number): Error {
    return timedOut(this.call, timeoutMs);
  }

  get isSettled(): boolean {
    return this.#settle === undefined;
  }

  /** Begins to heed a signal and a time limit. */
  heed({ signal, timeoutMs }: WaitOptions, timers: Timers): void {
    if (signal === undefined && timeoutMs === undefined) return;
    const abort = (): void => this.#giveUp(signal?.reason);
    const stopTimer =
      timeoutMs === undefined || timeoutMs === Infinity
        ? undefined
        : timers.timer(timeoutMs, () => this.#giveUp(this.lateness(timeoutMs)));
    signal?.addEventListener('abort', abort, { once: true });
    this.#stopWaiting = () => {
      stopTimer?.();
      signal?.removeEventListener('abort', abort);
    };
  }

  resolve(value: T): void {
    this.#end()?.resolve(value);
  }

  reject(error: unknown): void {
    this.#end()?.reject(error);
  }

  #giveUp(reason: unknown): void {
    if (this.isSettled) return;
    this.onGivenUp();
    this.reject(reason);
  }

  #end() {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    return settle;
  }
}
