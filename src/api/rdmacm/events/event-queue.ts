import { type Life, Waiters } from '../../runtime/index.js';
import { invalid, show, VerbsError } from '../../verbs/index.js';
import type { Dispatcher } from './dispatcher.js';
import type { Report, Reporter } from './report.js';

const CALL = 'rdma_get_cm_event';
/** How long one of several devices is waited for before the next one's turn. */
const SLICE_US = 500;

/** The events of a channel: looked for, waited for by blocking the thread, or awaited in the event loop. */
export class EventQueue {
  #reports: Report[] = [];
  readonly #waiters = new Waiters<Report>({
    take: () => this.tryTake(),
    listen: () => {
      for (const dispatcher of this.#dispatchers.keys()) this.#listenTo(dispatcher);
    },
    rest: () => {
      for (const life of this.#lives.values()) life.end();
      this.#lives.clear();
    },
  });
  /** A call blocks the thread for an event: until it has one, nobody in the event loop could do anything with it. */
  #isBlocked = false;
  /** Devices of the identifiers that report here, and how many of those each has. */
  readonly #dispatchers = new Map<Dispatcher, number>();
  readonly #reporters = new Set<Reporter>();
  readonly #lives = new Map<Dispatcher, Life>();
  #isReferenced = true;
  #onReport: () => void = () => undefined;

  /** Calls back whenever an event was added. */
  watch(onReport: () => void): void {
    this.#onReport = onReport;
  }

  /** Names of the identifiers that report here. */
  get reporters(): readonly string[] {
    return [...this.#reporters].map(({ label }) => label);
  }

  get closed(): boolean {
    return this.#waiters.closed;
  }

  join(reporter: Reporter): void {
    this.#reporters.add(reporter);
    for (const dispatcher of reporter.dispatchers) this.attach(dispatcher);
  }

  /** It does so no longer; gives what it has reported and nobody has taken. */
  leave(reporter: Reporter): Report[] {
    for (const dispatcher of reporter.dispatchers) this.detach(dispatcher);
    this.#reporters.delete(reporter);
    const left = this.#reports.filter((report) => report.reporter === reporter);
    if (left.length > 0) this.#reports = this.#reports.filter((report) => report.reporter !== reporter);
    return left;
  }

  /** An identifier that reports here has got a device. */
  attach(dispatcher: Dispatcher): void {
    const users = this.#dispatchers.get(dispatcher) ?? 0;
    this.#dispatchers.set(dispatcher, users + 1);
    if (users === 0 && this.#waiters.isListening) this.#listenTo(dispatcher);
  }

  /** It has it no longer. */
  detach(dispatcher: Dispatcher): void {
    const users = this.#dispatchers.get(dispatcher) ?? 0;
    if (users > 1) {
      this.#dispatchers.set(dispatcher, users - 1);
      return;
    }
    this.#dispatchers.delete(dispatcher);
    this.#lives.get(dispatcher)?.end();
    this.#lives.delete(dispatcher);
  }

  push(report: Report): void {
    this.#reports.push(report);
    this.#onReport();
    if (!this.#isBlocked) this.#waiters.serve();
  }

  /** Takes reports out that have become meaningless. */
  discard(which: (report: Report) => boolean): void {
    this.#reports = this.#reports.filter((report) => !which(report));
  }

  /** The oldest event, or undefined when there is none now. */
  tryTake(): Report | undefined {
    const report = this.relay();
    report?.taken();
    return report;
  }

  /** As {@link tryTake}, for a program elsewhere, which has not taken it by that. */
  relay(): Report | undefined {
    if (this.#reports.length === 0) for (const dispatcher of [...this.#dispatchers.keys()]) dispatcher.pump();
    return this.#reports.shift();
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
      this.#waiters.serve();
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

  /** The oldest event, in the event loop; undefined once the queue is closed. @throws (the promise rejects) the signal's reason */
  next(signal?: AbortSignal): Promise<Report | undefined> {
    return this.#waiters.next(signal);
  }

  /** The events one after the other, until the queue is closed. `return` also ends a wait that is under way. */
  iterate(): AsyncIterableIterator<Report, void, undefined> {
    return this.#waiters.iterate();
  }

  /** Has whoever waits in the event loop keep the process alive, as at first, or not. */
  reference(isReferenced: boolean): void {
    this.#isReferenced = isReferenced;
    for (const life of this.#lives.values()) refer(life, isReferenced);
  }

  /** Ends every wait in the event loop. */
  close(): void {
    this.#waiters.close();
  }

  #listenTo(dispatcher: Dispatcher): void {
    const life = dispatcher.listen();
    refer(life, this.#isReferenced);
    this.#lives.set(dispatcher, life);
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

function refer(life: Life, isReferenced: boolean): void {
  if (isReferenced) life.ref();
  else life.unref();
}
