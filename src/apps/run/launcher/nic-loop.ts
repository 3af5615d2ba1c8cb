import { residentPollFds, sleepAll, turnAll } from '../../../machine/hosting/index.js';
import { type EventFd, type NotifiedCalls, nowUs, PollSet } from '../../../machine/system/index.js';
import type { Dispatch } from '../notifications/dispatch.js';
import type { Processes } from '../processes/processes.js';

/** What the loop asks of the opened devices. */
export interface Opened {
  /** Hands on to the NICs what programs have posted. @returns whether there was anything */
  pull(): boolean;
  /** Tells programs what the NICs have done. @returns as `pull` */
  push(): boolean;
  /** How long a sleep may last, µs: there may be something that nobody tells of. */
  patienceUs(): number;
  /** Now and then. */
  sweep(): void;
}

/** Rounds that follow one another before whoever waits gets his answer: the NICs of one program may answer each other. */
const ROUNDS = 64;
/** How long the loop goes on before the event loop has its turn: signals, timers, messages. */
const STRETCH_US = 2000;

/**
 * The loop of the main thread: answers calls, and has the NICs take turns. A call hands the processor of the program that makes it to us,
 * and an answer hands it back, so it does not spin: what it waits for wakes it.
 */
export class NicLoop {
  #polled: PollSet | undefined;
  #lists: readonly (readonly number[])[] = [];
  #processes = -1;
  #running = true;
  #onAbandoned: () => void = () => undefined;
  /** Settles when nobody is left who could make a call. */
  readonly abandoned = new Promise<void>((resolve) => (this.#onAbandoned = resolve));

  constructor(
    private readonly calls: NotifiedCalls,
    private readonly dispatch: Dispatch,
    private readonly processes: Processes,
    private readonly opened: Opened,
    private readonly wake: EventFd,
  ) {
    setImmediate(() => this.#stretch());
  }

  stop(): void {
    this.#running = false;
  }

  /** Has the NICs do all that there is to do now, and tells programs of it. */
  settle(): void {
    for (let round = 0; round < ROUNDS && this.#round(); round += 1);
  }

  /** @returns whether there was anything to do */
  #round(): boolean {
    const { opened } = this;
    const pulled = opened.pull();
    const turned = turnAll(nowUs());
    const pushed = opened.push();
    return pulled || turned || pushed;
  }

  #stretch(): void {
    const endUs = nowUs() + STRETCH_US;
    do {
      const busy = this.#round();
      if (busy) this.#look(this.#pollSet(), 0);
      else sleepAll(nowUs() + this.opened.patienceUs(), (timeoutUs) => this.#look(this.#pollSet(), timeoutUs));
    } while (this.#running && nowUs() < endUs);
    this.opened.sweep();
    if (this.#running) setImmediate(() => this.#stretch());
  }

  #look(set: PollSet, timeoutUs: number): void {
    if (set.wait(timeoutUs) === 0) return;
    if (set.isHungUp(0)) {
      this.stop();
      this.#onAbandoned();
      return;
    }
    if (set.isReady(0)) this.dispatch.serve();
    if (set.isReady(1)) this.wake.drain();
    for (let i = 0; i < this.processes.pollFds.length; i += 1) {
      if (!set.isReady(2 + i)) continue;
      this.processes.look();
      return;
    }
  }

  /** The listener first, the event descriptor, processes, and what the NICs wait on. */
  #pollSet(): PollSet {
    const lists = residentPollFds();
    const { version } = this.processes;
    const same = this.#processes === version && lists.length === this.#lists.length;
    if (this.#polled === undefined || !same || lists.some((fds, i) => fds !== this.#lists[i])) {
      this.#lists = lists;
      this.#processes = version;
      this.#polled = new PollSet([this.calls.fd, this.wake.fd, ...this.processes.pollFds, ...lists.flat()]);
    }
    return this.#polled;
  }
}
