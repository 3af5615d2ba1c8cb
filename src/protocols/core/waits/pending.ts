import { whenAborted } from '../../../api/runtime/index.js';
import { timedOut, type WaitOptions } from './wait-options.js';

/** A clock that calls back: the engine is one. */
export interface Timers {
  /** @returns takes it back */
  timer(delayMs: number, action: () => void): () => void;
}

/** Is told what became of something, once. */
export interface Outcome<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/**
 * What somebody waits for, until it is done, has failed, or the program gives up: whichever comes first is told, and nothing that comes later is.
 */
export abstract class Unsettled<T> {
  #outcome: Outcome<T> | undefined;
  #stopWaiting: (() => void) | undefined;

  constructor(
    readonly call: string,
    outcome: Outcome<T>,
  ) {
    this.#outcome = outcome;
  }

  /** The program has given up: what it named is not to be touched from now on. Called before it is told. */
  protected abstract onGivenUp(): void;

  /** Why it fails when its time is over. */
  protected lateness(timeoutMs: number): Error {
    return timedOut(this.call, timeoutMs);
  }

  get isSettled(): boolean {
    return this.#outcome === undefined;
  }

  /** Begins to heed a signal and a time limit. */
  bindCancellation({ signal, timeoutMs }: WaitOptions, timers: Timers): void {
    if (signal === undefined && timeoutMs === undefined) return;
    const abort = (): void => this.#giveUp(signal?.reason);
    const stopTimer =
      timeoutMs === undefined || timeoutMs === Infinity
        ? undefined
        : timers.timer(timeoutMs, () => this.#giveUp(this.lateness(timeoutMs)));
    const stopListening = signal === undefined ? undefined : whenAborted(signal, abort);
    this.#stopWaiting = () => {
      stopTimer?.();
      stopListening?.();
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

  #end(): Outcome<T> | undefined {
    const outcome = this.#outcome;
    this.#outcome = undefined;
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    return outcome;
  }
}

const NOBODY: Outcome<unknown> = { resolve: () => undefined, reject: () => undefined };

/** The same with a promise, which is told. */
export abstract class Pending<T> extends Unsettled<T> {
  readonly promise: Promise<T>;

  constructor(call: string) {
    let outcome: Outcome<T> = NOBODY;
    const promise = new Promise<T>((resolve, reject) => {
      outcome = { resolve, reject };
    });
    super(call, outcome);
    this.promise = promise;
  }
}
