import { runtime } from './current.js';
import { holdTime, releaseTime } from './rounds.js';
import type { AsyncContext } from './runtime.js';

const settled = Promise.resolve();

/**
 * An action that is done in a microtask, once however often that was asked for by then. `queueMicrotask` of Node makes several objects each time, of 600 bytes
 * together; what the action throws ends up where it has it end up.
 */
export class Microtask {
  #isQueued = false;

  constructor(private readonly action: () => void) {}

  queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    void settled.then(this.#run);
  }

  readonly #run = (): void => {
    this.#isQueued = false;
    try {
      this.action();
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  };
}

/** Calls of listeners that wait for their turn of the event loop. Each holds virtual time. */
let waiting = 0;
/** Whether this package was called by the event loop, and nothing of the program has run in this turn. */
let isOwnTurn = false;
/** What this package does before the turn ends. */
const duties: (() => void)[] = [];
/** Whether a listener was called in the midst of this turn: see {@link Callbacks.callNow}. */
let isTaken = false;
let call: (() => void) | undefined;

/**
 * Does what the event loop has called this package for, and has a whole turn for: `action`, then what that asked for by {@link Duty}, then
 * one call of a listener. The other calls have later turns.
 */
export function ownTurn(action: () => void): void {
  if (isOwnTurn) {
    action();
    return;
  }
  isOwnTurn = true;
  isTaken = false;
  try {
    action();
  } finally {
    endOwnTurn();
  }
}

function endOwnTurn(): void {
  try {
    for (let duty = duties.shift(); duty !== undefined; duty = duties.shift()) duty();
  } finally {
    if (duties.length > 0) endOwnTurn();
    else {
      isOwnTurn = false;
      const last = call;
      call = undefined;
      last?.();
    }
  }
}

function callLater(action: () => void): void {
  holdTime();
  waiting += 1;
  if (isOwnTurn && waiting === 1 && !isTaken) call = action;
  else runtime().nextRound(action);
}

/** A call of {@link callLater} begins. */
function callBegins(): void {
  waiting -= 1;
  releaseTime();
}

/** Something this package does soon, once however often it was asked for by then: at the end of its own turn, or else in a microtask. */
export class Duty {
  #isQueued = false;
  readonly #microtask: Microtask;

  constructor(private readonly action: () => void) {
    this.#microtask = new Microtask(this.#run);
  }

  queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    if (isOwnTurn) duties.push(this.#run);
    else this.#microtask.queue();
  }

  readonly #run = (): void => {
    this.#isQueued = false;
    this.action();
  };
}

/** Calls `action` after the calls of listeners that wait now; where none waits, as `Runtime.afterMicrotasks`. */
export function afterCallbacks(action: () => void): void {
  if (waiting === 0) runtime().afterMicrotasks(action);
  else runtime().nextRound(action);
}

/**
 * Calls the listeners of one object: a socket, a session, a server. Each call has its own turn of the event loop, as a callback of
 * libuv has: ticks and microtasks of one listener run before the next listener is called. Each runs in the async context in which
 * this was made.
 */
export class Callbacks {
  readonly #context: AsyncContext;

  /** @param context Default: that of the caller */
  constructor(context: AsyncContext = runtime().asyncContext()) {
    this.#context = context;
  }

  /** Calls `action` in a turn of its own, after all calls that wait. An exception is an uncaught one of the program. */
  call(action: () => void): void {
    callLater(() => {
      callBegins();
      this.#context.run(action);
    });
  }

  /**
   * Calls `action` at once where that is the turn of the listener: the event loop has called this package, and no other listener was called
   * in this turn or waits. For events whose data lasts no longer than that.
   *
   * @returns whether it was called; if not, {@link call} it
   */
  callNow(action: () => void): boolean {
    if (!isOwnTurn || isTaken || waiting > 0) return false;
    isTaken = true;
    this.#context.run(action);
    return true;
  }

  /** Calls `action` as {@link call} does. The promise settles as `action` or the promise that it returns. */
  ask<R>(action: () => R | PromiseLike<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      this.call(() => {
        try {
          resolve(action());
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
    });
  }

  /** Calls `action` at once, for what has to be answered or is in its own turn already. */
  run<R>(action: () => R): R {
    return this.#context.run(action);
  }
}

/** One action of an object, which is called in a turn of its own, once however often it was asked for by then. It allocates nothing. */
export class CallbackTurn {
  #isQueued = false;

  constructor(
    private readonly callbacks: Callbacks,
    private readonly action: () => void,
  ) {}

  get isQueued(): boolean {
    return this.#isQueued;
  }

  queue(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    callLater(this.#run);
  }

  readonly #run = (): void => {
    this.#isQueued = false;
    callBegins();
    this.callbacks.run(this.action);
  };
}
