import { invalid, show, VerbsError } from '../verbs/index.js';
import type { Dispatcher } from './dispatcher.js';
import type { Report, Reporter } from './report.js';

const CALL = 'rdma_get_cm_event';
/** How long one of several devices is waited for before the next one's turn. */
const SLICE_US = 500;

interface Waiter {
  /** The iterator that it belongs to. */
  readonly owner: object;
  readonly resolve: (report: Report | undefined) => void;
}

/** The events of a channel: looked for, waited for by blocking the thread, or awaited in the event loop. */
export class EventQueue {
  #reports: Report[] = [];
  #waiters: Waiter[] = [];
  /** A call blocks the thread for an event: until it has one, nobody in the event loop could do anything with it. */
  #isBlocked = false;
  #closed = false;
  /** Devices of the identifiers that report here, and how many of those each has. */
  readonly #dispatchers = new Map<Dispatcher, number>();
  readonly #reporters = new Set<Reporter>();

  /** Identifiers that report here. */
  get reporters(): number {
    return this.#reporters.size;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** An identifier reports here from now on. */
  join(reporter: Reporter): void {
    this.#reporters.add(reporter);
    if (reporter.dispatcher !== undefined) this.attach(reporter.dispatcher);
  }

  /** It does so no longer; gives what it has reported and nobody has taken. */
  leave(reporter: Reporter): Report[] {
    if (reporter.dispatcher !== undefined) this.detach(reporter.dispatcher);
    this.#reporters.delete(reporter);
    const left = this.#reports.filter((report) => report.reporter === reporter);
    if (left.length > 0) this.#reports = this.#reports.filter((report) => report.reporter !== reporter);
    return left;
  }

  /** An identifier that reports here has got a device. */
  attach(dispatcher: Dispatcher): void {
    const users = this.#dispatchers.get(dispatcher) ?? 0;
    this.#dispatchers.set(dispatcher, users + 1);
    if (users === 0 && this.#waiters.length > 0) dispatcher.listen();
  }

  /** It has it no longer. */
  detach(dispatcher: Dispatcher): void {
    const users = this.#dispatchers.get(dispatcher) ?? 0;
    if (users > 1) {
      this.#dispatchers.set(dispatcher, users - 1);
      return;
    }
    this.#dispatchers.delete(dispatcher);
    if (this.#waiters.length > 0) dispatcher.unlisten();
  }

  push(report: Report): void {
    this.#reports.push(report);
    if (!this.#isBlocked) this.#serve();
  }

  /** Takes reports out that have become meaningless. */
  discard(which: (report: Report) => boolean): void {
    this.#reports = this.#reports.filter((report) => !which(report));
  }

  /** The oldest event, or undefined when there is none now. */
  tryTake(): Report | undefined {
    if (this.#reports.length === 0) for (const dispatcher of [...this.#dispatchers.keys()]) dispatcher.pump();
    const report = this.#reports.shift();
    report?.taken();
    return report;
  }

  /**
   * The oldest event; blocks the thread until there is one.
   *
   * @throws VerbsError ETIMEDOUT after `timeoutMs`, or when none can come
   */
  take(timeoutMs = Infinity): Report {
    if (typeof timeoutMs !== 'number' || !(timeoutMs >= 0))
      throw new VerbsError(CALL, invalid(`timeoutMs is ${show(timeoutMs)}`, 'It is a number of milliseconds'));
    this.#isBlocked = true;
    try {
      return this.#takeWithin(timeoutMs);
    } finally {
      this.#isBlocked = false;
      this.#serve();
    }
  }

  #takeWithin(timeoutMs: number): Report {
    let deadlineUs: number | undefined;
    for (;;) {
      const report = this.tryTake();
      if (report !== undefined) return report;
      const [first] = this.#dispatchers.keys();
      const nowUs = (first as Dispatcher | undefined)?.device.nowUs();
      if (nowUs === undefined) throw hopeless('no identifier that reports here has a device yet');
      deadlineUs ??= nowUs + timeoutMs * 1000;
      if (deadlineUs <= nowUs) throw hopeless(`no event within ${timeoutMs} ms`);
      this.#wait(deadlineUs - nowUs);
    }
  }

  /** The events one after the other, until the queue is closed. `return` also ends a wait that is under way. */
  iterate(): AsyncIterableIterator<Report, void, undefined> {
    let ended = false;
    const iterator: AsyncIterableIterator<Report, void, undefined> = {
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

  /** Ends every wait in the event loop. */
  close(): void {
    this.#closed = true;
    this.#dismiss(() => true);
  }

  /** The oldest event, in the event loop; undefined once the queue is closed. */
  #next(owner: object): Promise<Report | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    // Those who wait longer have a better right to it.
    const report = this.#waiters.length === 0 ? this.tryTake() : undefined;
    if (report !== undefined) return Promise.resolve(report);
    return new Promise((resolve) => {
      this.#waiters.push({ owner, resolve });
      if (this.#waiters.length > 1) return;
      for (const dispatcher of [...this.#dispatchers.keys()]) dispatcher.listen();
      // What has come between looking and listening was not announced.
      for (const dispatcher of [...this.#dispatchers.keys()]) dispatcher.pump();
    });
  }

  /** Gives what there is to those who wait in the event loop. */
  #serve(): void {
    while (this.#waiters.length > 0) {
      const report = this.#reports.shift();
      if (report === undefined) return;
      const waiter = this.#waiters.shift();
      if (this.#waiters.length === 0) this.#rest();
      report.taken();
      waiter?.resolve(report);
    }
  }

  #dismiss(which: (waiter: Waiter) => boolean): void {
    const dismissed = this.#waiters.filter(which);
    if (dismissed.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => !which(waiter));
    if (this.#waiters.length === 0) this.#rest();
    for (const waiter of dismissed) waiter.resolve(undefined);
  }

  #rest(): void {
    for (const dispatcher of this.#dispatchers.keys()) dispatcher.unlisten();
  }

  /** Waits for any of the devices. @throws VerbsError ETIMEDOUT when nothing can come from any of them */
  #wait(timeoutUs: number): void {
    const dispatchers = [...this.#dispatchers.keys()];
    if (dispatchers.length === 1) {
      dispatchers[0].wait(timeoutUs);
      return;
    }
    let idle: unknown;
    let idlers = 0;
    for (const dispatcher of dispatchers) {
      try {
        dispatcher.wait(Math.min(timeoutUs, SLICE_US));
      } catch (error) {
        idle = error;
        idlers += 1;
      }
    }
    if (idlers === dispatchers.length) throw idle;
  }
}

function hopeless(message: string): VerbsError {
  return new VerbsError(CALL, { errno: 'ETIMEDOUT', message, advice: '' });
}
