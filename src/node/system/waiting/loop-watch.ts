import type { NativeHost, PollHandle } from '../native.js';
import { AsyncResource } from 'node:async_hooks';

/** Waits for one descriptor. Keeps the process alive while it is armed, unless it is not referenced, and only then. */
export interface ReadableWatch {
  /** Asks for one call of the callback when the descriptor is readable, now or later. Repeating it changes nothing. */
  arm(): void;
  disarm(): void;
  /** Whether it keeps the process alive: it does, to begin with. In a worker it always does. */
  ref(): void;
  unref(): void;
  /** Disarms for good. To be called before the descriptor is closed. */
  close(): void;
}

/** Made when the program loads the package, and so in the context of no request. */
const root = new AsyncResource('verbena');

/**
 * Calls a function in the async context in which the program loaded this package. All that waits on behalf of a whole device starts so: it
 * neither holds what `AsyncLocalStorage` has for the caller that happened to start it, nor hands that on to others.
 */
export function inRootContext<Arguments extends unknown[], R>(
  action: (...args: Arguments) => R,
  ...args: Arguments
): R {
  return root.runInAsyncScope(action, undefined, ...args);
}

const READABLE = { readable: true };

/** Those who test programs may put other timers into the place of the real ones. */
const { setImmediate, clearImmediate } = globalThis;

/** All that are armed: what is readable while the environment is taken down would call into it. */
const armed = new Set<LoopWatch>();

process.once('exit', () => {
  for (const watch of [...armed]) watch.close();
});

/**
 * A watch in libuv's loop of the main thread: it needs no thread of the pool, and waking takes what it takes Node's own sockets.
 * libuv calls between two callbacks of Node, where nothing may be thrown and no promise goes on, so the callback is called
 * by an immediate, which comes next.
 */
export class LoopWatch implements ReadableWatch {
  /** Open for as long as this is not closed; libuv watches while it is started. */
  #handle: PollHandle | undefined;
  #isStarted = false;
  #isArmed = false;
  #isReferenced = true;
  #isClosed = false;
  #soon: NodeJS.Immediate | undefined;

  constructor(
    private readonly native: NativeHost,
    private readonly fd: number,
    private readonly callback: () => void,
  ) {}

  arm(): void {
    if (this.#isClosed || this.#isArmed) return;
    this.#isArmed = true;
    armed.add(this);
    // It goes on where it is armed again before it would have been stopped.
    if (this.#isStarted) return;
    this.#isStarted = true;
    if (this.#handle !== undefined) this.#handle.start(READABLE, this.#onReadable);
    else {
      this.#handle = this.native.pollHandle?.(this.fd, READABLE, this.#onReadable);
      if (!this.#isReferenced) this.#handle?.unref();
    }
  }

  disarm(): void {
    this.#isArmed = false;
    armed.delete(this);
    clearImmediate(this.#soon);
    this.#soon = undefined;
    this.#stop();
  }

  ref(): void {
    if (this.#isReferenced) return;
    this.#isReferenced = true;
    this.#handle?.ref();
  }

  unref(): void {
    if (!this.#isReferenced) return;
    this.#isReferenced = false;
    this.#handle?.unref();
  }

  close(): void {
    this.disarm();
    this.#isClosed = true;
    this.#handle?.close();
    this.#handle = undefined;
  }

  /** From libuv, and again and again while the descriptor is readable. */
  readonly #onReadable = (): void => {
    if (this.#isArmed) this.#soon ??= inRootContext(setImmediate, this.#deliver);
  };

  readonly #deliver = (): void => {
    this.#soon = undefined;
    this.#isArmed = false;
    armed.delete(this);
    try {
      this.callback();
    } finally {
      this.#stop();
    }
  };

  /** Has libuv watch no longer, unless it is to. */
  #stop(): void {
    if (!this.#isStarted || this.#isArmed) return;
    this.#isStarted = false;
    this.#handle?.stop();
  }
}
