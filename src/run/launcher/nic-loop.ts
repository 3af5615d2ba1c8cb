import { residentPollFds, sleepAll, turnAll } from '../../node/hosting/index.js';
import { type EventFd, type NotifiedCalls, nowUs, PollSet, setTimeSlice } from '../../node/system/index.js';
import type { Dispatch } from '../notifications/dispatch.js';
import type { Processes } from '../processes/processes.js';

export interface Opened {
  /** Hands on to the NICs what programs have posted. @returns whether there was anything */
  pull(): boolean;
  /** Tells programs what the NICs have done. @returns as `pull` */
  push(): boolean;
  /** How long a sleep may last, µs: there may be something that nobody tells of. */
  patienceUs(): number;
  sweep(): void;
}

/** Rounds that follow one another before whoever waits gets his answer: the NICs of one program may answer each other. */
const ROUNDS = 64;
/**
 * The processor is ours for so short a time at once: so we get it as soon as something is there for us, though a program polls there, and
 * keep it until the program has its answer and we wait for the next.
 */
const SLICE_US = 100;
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
  #nicsAt = 0;
  #running = true;
  #isAbandoned = false;
  #inPlace: boolean | undefined;
  /** The NICs have nothing to do, as was seen a moment ago. */
  #settled = false;
  /** The listener alone: to look at one descriptor takes half as long as at all. */
  readonly #listener: PollSet;
  #onAbandoned: () => void = () => undefined;
  /** Settles when nobody is left who could make a call. */
  readonly abandoned = new Promise<void>((resolve) => (this.#onAbandoned = resolve));

  constructor(
    private readonly calls: Pick<NotifiedCalls, 'fd' | 'wakeInPlace'>,
    private readonly dispatch: Pick<Dispatch, 'serve'>,
    private readonly processes: Pick<Processes, 'pollFds' | 'version' | 'look'>,
    private readonly opened: Opened,
    private readonly wake: Pick<EventFd, 'fd' | 'drain'>,
  ) {
    this.#listener = new PollSet([calls.fd]);
    setTimeSlice(SLICE_US);
    this.#goOn();
  }

  stop(): void {
    this.#running = false;
  }

  /** The program whose call is answered next goes on beside us, where there is a processor for it. */
  letGo(): void {
    this.#wakeInPlace(false);
  }

  /** Has the NICs do all that there is to do now, and tells programs of it. */
  settle(): void {
    let round = 0;
    while (round < ROUNDS && this.#round()) round += 1;
    this.#settled = round < ROUNDS;
  }

  /** @returns whether there was anything to do */
  #round(): boolean {
    const { opened } = this;
    const pulled = opened.pull();
    const turned = turnAll(nowUs());
    const pushed = opened.push();
    return pulled || turned || pushed;
  }

  #goOn(): void {
    setImmediate(() => {
      if (this.#running) this.#stretch();
    });
  }

  #stretch(): void {
    const endUs = nowUs() + STRETCH_US;
    // All that may tell of something is looked at once in a stretch, and whenever there is nothing else to do.
    this.#look(this.#pollSet());
    do {
      const busy = !this.#settled && this.#round();
      this.#settled = false;
      // Answered once the NICs are awake again: each thing that they send each other would else come with a call to wake them.
      if (!this.#look(this.#listener) && !busy) this.#rest();
    } while (this.#running && nowUs() < endUs);
    this.opened.sweep();
    this.#goOn();
  }

  /** Answers what there is to answer. @returns whether there was anything */
  #look(set: PollSet): boolean {
    if (this.#isAbandoned || set.wait(0) === 0) return false;
    this.#answer(set, false);
    return true;
  }

  #rest(): void {
    const set = this.#pollSet();
    if (this.#sleep(set)) this.#answer(set, true);
  }

  /** @returns whether something has woken us */
  #sleep(set: PollSet): boolean {
    let woken = false;
    sleepAll(nowUs() + this.opened.patienceUs(), (timeoutUs) => {
      // Whoever calls now hands us his processor.
      this.#wakeInPlace(true);
      woken = set.wait(timeoutUs) > 0;
    });
    return woken;
  }

  /** @param onTheirs whether we run on the processor of the program that calls, which has woken us */
  #answer(set: PollSet, onTheirs: boolean): void {
    if (set.isHungUp(0)) {
      this.#isAbandoned = true;
      this.#polled = undefined;
      this.#onAbandoned();
    }
    // A look that a signal has interrupted says that there is an error; to receive would wait then.
    if (set.isReadable(0)) this.#serve(onTheirs);
    if (set === this.#listener) return;
    if (set.isReady(1)) this.wake.drain();
    for (let i = 2; i < this.#nicsAt; i += 1) {
      if (!set.isReady(i)) continue;
      this.processes.look();
      return;
    }
  }

  /**
   * A program that has woken us goes on where we are. One whose call we found has a processor of its own, and we are on that of
   * another, which may poll without pause: there it would wait until that one's time is over.
   */
  #serve(onTheirs: boolean): void {
    this.#wakeInPlace(onTheirs);
    this.dispatch.serve();
  }

  #wakeInPlace(inPlace: boolean): void {
    if (inPlace === this.#inPlace) return;
    this.#inPlace = inPlace;
    this.calls.wakeInPlace(inPlace);
  }

  /** The listener first, the event descriptor, processes, and what the NICs wait on. */
  #pollSet(): PollSet {
    const lists = residentPollFds();
    const { version } = this.processes;
    const same = this.#processes === version && lists.length === this.#lists.length;
    if (this.#polled === undefined || !same || lists.some((fds, i) => fds !== this.#lists[i])) {
      this.#lists = lists;
      this.#processes = version;
      // `ppoll` passes over what is negative.
      const listenerFd = this.#isAbandoned ? -1 : this.calls.fd;
      const ofPrograms = [listenerFd, this.wake.fd, ...this.processes.pollFds];
      this.#nicsAt = ofPrograms.length;
      this.#polled = new PollSet([...ofPrograms, ...lists.flat()]);
    }
    return this.#polled;
  }
}
