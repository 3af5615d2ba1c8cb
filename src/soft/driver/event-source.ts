import { CommandError, Ring } from '../../nic/index.js';
import { invalid, VerbsError } from '../../verbs/index.js';
import type { AdapterHost } from '../adapter-host.js';
import type { EventReader } from './event-reader.js';

/** Who is given events from the event loop, each at the moment it is taken. */
export interface EventFollower<T> {
  onEvent(event: T): void;
  /** The source was closed. */
  onEnd(): void;
  /** The adapter has stopped. */
  onFailure(error: Error): void;
}

interface Waiter<T> {
  /** The iterator or the follower that it belongs to. */
  readonly owner: object;
  /** Takes all events, not one. */
  readonly stays: boolean;
  readonly resolve: (event: T | undefined) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Events of one ring, for whoever wants them: looked for, waited for by blocking the thread, or awaited in the event
 * loop. Each event goes to one of them.
 */
export class EventSource<T> {
  #waiters: Waiter<T>[] = [];
  #stopListening: (() => void) | undefined;
  #closed = false;

  constructor(
    private readonly host: AdapterHost,
    private readonly reader: EventReader,
    /** Takes the oldest event out of the ring; undefined when there is none. */
    readonly tryTake: () => T | undefined,
    /** C name of the call that waits. */
    private readonly call: string,
  ) {}

  /**
   * The oldest event; blocks the thread until there is one.
   *
   * @throws VerbsError ETIMEDOUT after `timeoutMs`, EIO when the adapter has stopped
   */
  take(timeoutMs = Infinity): T {
    if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0))
      throw new VerbsError(this.call, invalid(`timeoutMs is ${String(timeoutMs)}`, 'It is a number of milliseconds'));
    const { host, reader } = this;
    const deadlineUs = timeoutMs === Infinity ? Infinity : host.nowUs() + timeoutMs * 1000;
    for (;;) {
      const event = this.tryTake();
      if (event !== undefined) return event;
      const leftUs = deadlineUs === Infinity ? Infinity : deadlineUs - host.nowUs();
      if (leftUs <= 0)
        throw new VerbsError(this.call, { errno: 'ETIMEDOUT', message: `no event within ${timeoutMs} ms`, advice: '' });
      try {
        host.wait(reader.words, Ring.PRODUCER, reader.position, leftUs);
      } catch (error) {
        throw this.#verbsError(error);
      }
    }
  }

  /** The events one after the other, until the source is closed. `return` also ends a wait that is under way. */
  iterate(): AsyncIterableIterator<T, void, undefined> {
    let ended = false;
    const iterator: AsyncIterableIterator<T, void, undefined> = {
      next: async () => {
        const value = ended ? undefined : await this.#next(iterator);
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
   * Gives events to a follower, who has each before anybody else can act: an event that an iterator gives is on its way
   * to the program for some microtasks. Keeps the process alive until the function returned is called.
   */
  follow(follower: EventFollower<T>): () => void {
    this.#waiters.push({
      owner: follower,
      stays: true,
      resolve: (event) => (event === undefined ? follower.onEnd() : follower.onEvent(event)),
      reject: (error) => follower.onFailure(error),
    });
    this.#listen();
    // Not at once: whoever follows has to be able to stop.
    queueMicrotask(() => this.#serve());
    return () => {
      this.#waiters = this.#waiters.filter(({ owner }) => owner !== follower);
      if (this.#waiters.length === 0) this.#rest();
    };
  }

  /** Ends every wait in the event loop. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#dismiss(() => true);
  }

  /** The oldest event, in the event loop; undefined once the source is closed. */
  #next(owner: object): Promise<T | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    if (this.#waiters.length === 0) {
      const event = this.tryTake();
      if (event !== undefined) return Promise.resolve(event);
    }
    return new Promise((resolve, reject) => {
      this.#waiters.push({ owner, stays: false, resolve, reject });
      this.#listen();
      this.#serve();
    });
  }

  #listen(): void {
    this.#stopListening ??= this.host.listen(() => this.#serve());
  }

  /** Tells some of those who wait that nothing will come. */
  #dismiss(which: (waiter: Waiter<T>) => boolean): void {
    const dismissed = this.#waiters.filter(which);
    this.#waiters = this.#waiters.filter((waiter) => !which(waiter));
    for (const waiter of dismissed) waiter.resolve(undefined);
    if (this.#waiters.length === 0) this.#rest();
  }

  /** Gives events to those who wait. */
  #serve(): void {
    while (this.#waiters.length > 0) {
      // Before looking, so that an event which comes afterwards is announced.
      this.reader.announce(true);
      const event = this.tryTake();
      if (event !== undefined) {
        const [first] = this.#waiters;
        if (!first.stays) this.#waiters.shift();
        first.resolve(event);
        continue;
      }
      const { failure } = this.host;
      if (failure === undefined) return;
      const error = this.#verbsError(new CommandError('EIO', failure));
      for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
    }
    this.#rest();
  }

  #rest(): void {
    this.reader.announce(false);
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #verbsError(error: unknown): Error {
    if (error instanceof CommandError)
      return new VerbsError(this.call, { errno: error.errno, message: error.message, advice: '' });
    return error instanceof Error ? error : new Error(String(error));
  }
}
