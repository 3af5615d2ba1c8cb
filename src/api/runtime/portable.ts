import { crc32 } from '../../device/wire/index.js';
import type { Ambient, AsyncContext, Runtime } from './runtime.js';

/** The longest that a timer of JavaScript's waits: one that is to wait longer fires at once. */
export const LONGEST_MS = 2 ** 31 - 1;

/** Calls `action` in so many ms. @returns takes it back */
type StartTimer = (delayMs: number, action: () => void) => () => void;

/** Timers that wait for as long as they are told, of such that cannot: one after the other. */
export function inPieces(start: StartTimer): StartTimer {
  return (delayMs, action) => {
    let stop = (): void => undefined;
    const wait = (leftMs: number): void => {
      const isLast = leftMs <= LONGEST_MS;
      stop = isLast ? start(leftMs, action) : start(LONGEST_MS, () => wait(leftMs - LONGEST_MS));
    };
    wait(delayMs);
    return () => stop();
  };
}

/** Those who test programs may put other timers into the place of the real ones. */
const { setTimeout, clearTimeout } = globalThis;

/**
 * A value for as long as a function runs, and not for what it awaits: to follow that, too, a runtime has to help, and
 * browsers do not.
 */
class SynchronousAmbient<T> implements Ambient<T> {
  #value: T | undefined;

  run<R>(value: T | undefined, program: () => R): R {
    const before = this.#value;
    this.#value = value;
    try {
      return program();
    } finally {
      this.#value = before;
    }
  }

  get(): T | undefined {
    return this.#value;
  }

  bind<Arguments extends unknown[], R>(action: (...args: Arguments) => R): (...args: Arguments) => R {
    const value = this.#value;
    return (...args) => this.run(value, () => action(...args));
  }

  /** The caller's value, for later. */
  context(): AsyncContext {
    const value = this.#value;
    return { run: (action) => this.run(value, action) };
  }
}

const ambients: { context(): AsyncContext }[] = [];

const NO_CONTEXT: AsyncContext = { run: (action) => action() };

function contextOfAll(): AsyncContext {
  if (ambients.length === 0) return NO_CONTEXT;
  return ambients
    .map((ambient) => ambient.context())
    .reduce((outer, inner) => ({ run: (action) => outer.run(() => inner.run(action)) }));
}

/** Messages to oneself come after all that waits already, and timers of 0 ms do not: browsers make those wait for 4 ms. */
class Rounds {
  readonly #waiting: (() => void)[] = [];
  #channel: InstanceType<typeof MessageChannel> | undefined;

  next(action: () => void): void {
    this.#waiting.push(action);
    this.#channel ??= this.#open();
    this.#channel.port2.postMessage(undefined);
  }

  #open(): InstanceType<typeof MessageChannel> {
    const channel = new MessageChannel();
    channel.port1.addEventListener('message', () => this.#round(channel));
    channel.port1.start();
    return channel;
  }

  #round(channel: InstanceType<typeof MessageChannel>): void {
    try {
      this.#waiting.shift()?.();
    } finally {
      if (this.#waiting.length === 0) {
        // One that is open keeps a program running.
        channel.port1.close();
        this.#channel = undefined;
      }
    }
  }
}

const rounds = new Rounds();

function noFiles(): never {
  throw new Error('there are no files in a page of a browser; sim.packets gives what a capture would hold');
}

/** What every runtime of JavaScript has: a page of a browser, for one. It has neither files nor an environment. */
export const portable: Runtime = {
  packageVersion: 'unknown',
  crc32,
  crc32Source: 'javascript',
  environment: () => undefined,
  environmentNames: () => [],
  warn: (problem) => console.warn(problem),
  // Browsers tell nobody when there are none left.
  afterMicrotasks: (action) => queueMicrotask(action),
  openLog: (where) => {
    if (where === 'stdout') return (line) => console.log(line);
    if (where === 'stderr') return (line) => console.error(line);
    throw Object.assign(new Error('there are no files in a page of a browser'), { code: 'EOPNOTSUPP' });
  },
  nextRound: (action) => rounds.next(action),
  timer: inPieces((delayMs, action) => {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  }),
  chore: (delayMs, action) => portable.timer(delayMs, action),
  // A page lives whatever its programs wait for.
  keepAlive: () => ({ ref: () => undefined, unref: () => undefined, end: () => undefined }),
  ambient: <T>() => {
    const ambient = new SynchronousAmbient<T>();
    ambients.push(ambient);
    return ambient;
  },
  asyncContext: contextOfAll,
  // Shared memory is for pages that are isolated from others, and simulated hosts need none.
  memory: (bytes) => new ArrayBuffer(bytes),
  addressOf: () => undefined,
  openDatagramPort: () => {
    const problem = new Error('there is no UDP in a page of a browser; hosts of a simulation have it');
    throw Object.assign(problem, { code: 'EOPNOTSUPP' });
  },
  identityOfFile: noFiles,
  openFolder: () => {
    throw Object.assign(new Error('there are no files in a page of a browser'), { code: 'EOPNOTSUPP' });
  },
  openCapture: noFiles,
};
