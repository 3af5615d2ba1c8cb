import { whenAborted } from './aborts.js';
import { yieldRound } from './rounds.js';

/** One wait in so many lets the event loop have a turn, however much there is: a loop of microtasks would starve all others. */
const WAITS_PER_ROUND = 64;

export interface WaitSource<T> {
  /** The oldest, or undefined while there is none. @throws what those who wait are to learn: none will come any more */
  take(): T | undefined;
  /** Somebody waits: {@link Waiters.serve} is to be called when something may have come, and the process kept alive. */
  listen(): void;
  rest(): void;
}

/** Is given all there is, from the event loop, each at the moment it is taken. */
export interface EventFollower<T> {
  onEvent(event: T): void;
  onEnd(): void;
  /** None will come any more. */
  onFailure(error: unknown): void;
}

export interface Following {
  start(): void;
  stop(): void;
}

interface Waiter<T> {
  /** The iterator or the follower that it belongs to, if any. */
  readonly owner: object | undefined;
  /** Takes all, not one. */
  readonly stays: boolean;
  readonly resolve: (item: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Those who wait in the event loop for what comes from one source. Each thing goes to one of them: to who has waited
 * longest. Waits end by a signal, of which `AbortSignal.timeout` makes some that bound them, or when all of it is closed.
 */
export class Waiters<T> {
  #waiting: Waiter<T>[] = [];
  #waits = 0;
  /** The event loop has its turn before anybody is given anything. */
  #isResting = false;
  #isListening = false;
  /** Taken for those who gave up meanwhile. */
  readonly #kept: T[] = [];
  #closed = false;

  constructor(private readonly source: WaitSource<T>) {}

  get isListening(): boolean {
    return this.#isListening;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The oldest thing, or undefined when there is none now. @throws what the source throws */
  tryTake(): T | undefined {
    return this.#kept.length > 0 ? this.#kept.shift() : this.source.take();
  }

  /**
   * The oldest thing; undefined once all is closed.
   *
   * @throws (the promise rejects) the signal's reason; what the source throws
   */
  next(signal?: AbortSignal): Promise<T | undefined> {
    return this.#next(signal, undefined);
  }

  /** One thing after the other, until all is closed. `return` also ends waits that are under way. */
  iterate(): AsyncIterableIterator<T, void, undefined> {
    let ended = false;
    const iterator: AsyncIterableIterator<T, void, undefined> = {
      next: async () => {
        const value = ended ? undefined : await this.#next(undefined, iterator);
        if (value !== undefined) return { done: false, value };
        ended = true;
        return { done: true, value: undefined };
      },
      return: () => {
        ended = true;
        this.#dismiss((waiter) => waiter.owner === iterator);
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /**
   * Gives all to a follower, who has each before anybody else can act: what an iterator gives is on its way to the program
   * for some microtasks. What is there already it has when it is started, and so can stop in the midst of that.
   */
  follow(follower: EventFollower<T>): Following {
    this.#add({
      owner: follower,
      stays: true,
      resolve: (item) => (item === undefined ? follower.onEnd() : follower.onEvent(item)),
      reject: (error) => follower.onFailure(error),
    });
    return {
      start: () => this.serve(),
      stop: () => {
        this.#waiting = this.#waiting.filter(({ owner }) => owner !== follower);
        this.#restIfAlone();
      },
    };
  }

  /** Gives what there is to those who wait. To take something may call this again. */
  serve(): void {
    while (!this.#isResting && this.#waiting.length > 0) {
      const item = this.#take();
      if (item === undefined) return;
      const first = this.#waiting.at(0);
      if (first === undefined) {
        this.#kept.push(item);
        return;
      }
      if (!first.stays) this.#waiting.shift();
      this.#restIfAlone();
      first.resolve(item);
    }
  }

  /** Tells all who wait that nothing will come. Those who wait later are not affected. */
  fail(error: unknown): void {
    const failed = this.#waiting;
    this.#waiting = [];
    this.#restIfAlone();
    for (const waiter of failed) waiter.reject(error);
  }

  /** Ends every wait, and all that are begun later. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#dismiss(() => true);
  }

  async #next(signal: AbortSignal | undefined, owner: object | undefined): Promise<T | undefined> {
    signal?.throwIfAborted();
    if (this.#closed) return undefined;
    this.#waits = (this.#waits + 1) % WAITS_PER_ROUND;
    const isPatient = this.#waits === 0;
    // Those who wait longer have a better right to it.
    const item = isPatient || this.#waiting.length > 0 ? undefined : this.tryTake();
    if (item !== undefined) return item;
    // To take may let time pass, in a simulation, and with it everybody's patience.
    signal?.throwIfAborted();
    let stopListening: (() => void) | undefined;
    const coming = new Promise<T | undefined>((resolve, reject) => {
      const waiter = { owner, stays: false, resolve, reject };
      if (signal !== undefined) {
        const abort = (): void => {
          this.#dismiss(
            (other) => other === waiter,
            () => reject(signal.reason as Error),
          );
        };
        stopListening = whenAborted(signal, abort);
      }
      if (isPatient) this.#rest();
      this.#add(waiter);
      // What came between looking and listening was not announced.
      if (!isPatient) this.serve();
    });
    try {
      return await coming;
    } finally {
      stopListening?.();
    }
  }

  /** What is announced meanwhile waits as well. */
  #rest(): void {
    this.#isResting = true;
    yieldRound(() => {
      this.#isResting = false;
      this.serve();
    });
  }

  #take(): T | undefined {
    try {
      return this.tryTake();
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  #add(waiter: Waiter<T>): void {
    this.#waiting.push(waiter);
    if (this.#isListening) return;
    this.#isListening = true;
    try {
      this.source.listen();
    } catch (error) {
      this.#isListening = false;
      this.fail(error);
    }
  }

  /** Has some of those who wait do so no longer. */
  #dismiss(which: (waiter: Waiter<T>) => boolean, tell = (waiter: Waiter<T>) => waiter.resolve(undefined)): void {
    const dismissed = this.#waiting.filter(which);
    this.#waiting = this.#waiting.filter((waiter) => !which(waiter));
    this.#restIfAlone();
    for (const waiter of dismissed) tell(waiter);
  }

  /** A waiter that has ended does not keep the process alive. */
  #restIfAlone(): void {
    if (!this.#isListening || this.#waiting.length > 0) return;
    this.#isListening = false;
    this.source.rest();
  }
}
