import { EventQueue, SeededRandom, type SimulatedNetwork } from '../../device/link/index.js';
import { VerbsError } from '../../api/verbs/index.js';
import { isTimeHeld, isYielding, runtime } from '../../api/runtime/index.js';
import type { Adapter } from '../../device/adapter/index.js';
import { SyntheticAddresses } from '../../providers/soft/index.js';

/** Steps between two rounds of the event loop, which others want to use as well. */
const STEPS_PER_ROUND = 64;
/** Keys and QP numbers are drawn from a sequence of their own, so that they do not change with the network's luck. */
const KEY_SEED = 0x5eed;
const SECRET_SEED = 0x5ec4e7;

/**
 * Rounds of the event loop in which nothing happens before a program's patience is at its end: it may have gone through the
 * event loop for something else, and would have answered in time.
 */
const PATIENT_ROUNDS = 16;
/**
 * Rounds of the event loop after an event of which a program was notified, before time passes: the program may go through the event loop itself, as
 * streams of Node do.
 */
const ROUNDS_AFTER_NEWS = 3;
/** Rounds without virtual time for a loop of the program that yields now and then: it may poll for an event that only time brings. */
const YIELD_ROUNDS = 4;
/**
 * Empty polls of one queue in a row, without a microtask between, from which on a program is taken to poll until something comes, and time passes.
 * A program that awaits events polls once before it arms the queue, and once afterwards.
 */
const POLLS_IN_A_ROW = 4;
/** The same for a program that lets microtasks run between its polls: those of other programs may be on their way through several promises. */
const POLLS_IN_A_ROUND = 64;
/** Empty polls after which, with nothing left to happen, a program is taken to wait for ever. */
const HOPELESS_POLLS = 10_000;

/** A host, as the simulation moves it. */
export interface MovedHost {
  readonly adapter: Pick<Adapter, 'turn' | 'nextWakeupUs'>;
  /** Whether it stands still. */
  readonly paused: boolean;
  readonly ports?: HostPorts;
}

/** The UDP ports of a host. */
export interface HostPorts {
  readonly address: string;
  arrived(port: number, bytes: Uint8Array, fromHost: string, fromPort: number): void;
}

/** Somebody who follows a simulation. */
export interface SimulationObserver {
  /** Something may have happened. */
  stepped?(): void;
  /** Nothing is left to happen, and those who wait in the event loop have had a turn since. */
  quiet?(): void;
}

/** What moves the adapters of one simulated network: virtual time, which passes when somebody waits. */
export class Simulation {
  readonly addresses = new SyntheticAddresses();
  readonly random: () => number;
  /** What programs of the hosts take for secrets. */
  readonly secretWord: () => number;

  /** Hosts that are there, paused ones included. */
  #hosts: readonly MovedHost[] = [];
  /** When programs will have waited for long enough. */
  readonly #timers = new EventQueue<() => void>();
  /** What is done now and then while time passes, but is nothing that anybody waits for. */
  readonly #chores = new EventQueue<() => void>();
  readonly #observers = new Set<SimulationObserver>();
  #runners = 0;
  #holds = 0;
  #scheduled = false;
  /** Rounds that are still to go by before time passes: see {@link announced}. */
  #newsRounds = 0;
  /** Rounds that passed since the last step because a loop of the program yielded. */
  #yieldRounds = 0;
  /** How often queues were polled without success since microtasks ran. */
  readonly #emptyPolls = new Map<Int32Array, number>();
  /** How often any was, since the last round or step. */
  #pollsInRound = 0;
  #stopped = false;
  #patientRounds = 0;
  #hopelessPolls = 0;

  constructor(
    readonly network: SimulatedNetwork,
    seed: number,
  ) {
    this.random = new SeededRandom(seed ^ KEY_SEED).u32;
    this.secretWord = new SeededRandom(seed ^ SECRET_SEED).u32;
  }

  get nowUs(): number {
    return this.network.nowUs;
  }

  add(host: MovedHost): void {
    this.#hosts = [...this.#hosts, host];
  }

  /** May be called during a step. */
  remove(host: MovedHost): void {
    this.#hosts = this.#hosts.filter((other) => other !== host);
  }

  /** The UDP ports of the host at an address, if there is one. */
  portsOf(address: string): HostPorts | undefined {
    return this.#hosts.find(({ ports }) => ports?.address === address)?.ports;
  }

  /** @returns ends the observation */
  observe(observer: SimulationObserver): () => void {
    this.#observers.add(observer);
    return () => void this.#observers.delete(observer);
  }

  /** Lets the next thing happen, but none after `untilUs`. @returns false when nothing will ever happen */
  step(untilUs: number): boolean {
    if (this.#stopped) return false;
    if (!this.#turn()) {
      const nextUs = Math.min(this.#nextEventUs(), this.#timers.nextUs);
      if (nextUs === Infinity && untilUs === Infinity) return false;
      this.network.advanceTo(Math.min(nextUs, this.#chores.nextUs, untilUs));
      for (let chore = this.#dueChore(); chore !== undefined; chore = this.#dueChore()) chore();
      for (let action = this.#dueTimer(); action !== undefined; action = this.#dueTimer()) action();
      this.#turn();
    }
    this.#stepped();
    return true;
  }

  /** Calls `action` after so long, unless it is taken back by the function returned. */
  timer(delayUs: number, action: () => void): () => void {
    let pending = true;
    const number = this.#timers.push(this.nowUs + delayUs, () => {
      pending = false;
      this.announced();
      action();
    });
    return () => {
      if (pending) this.#timers.cancel(number);
      pending = false;
    };
  }

  /**
   * An empty queue was polled. Time passes when nobody waits in the event loop, or when the program polls again and again, which
   * keeps all others from running.
   *
   * @throws VerbsError ETIMEDOUT when that was done again and again though nothing is left to happen
   */
  polled(ring: Int32Array): void {
    if (!this.#pollsForGood(ring)) return;
    this.#pollsInRound = 0;
    if (this.step(Infinity) || ++this.#hopelessPolls < HOPELESS_POLLS) return;
    const message = `polled ${HOPELESS_POLLS} times, and nothing is left to happen in the simulation`;
    throw new VerbsError('ibv_poll_cq', { errno: 'ETIMEDOUT', message, advice: 'What is waited for will never come' });
  }

  /** As {@link timer}, but only if that long passes for other reasons: where nothing else is left to happen, time stands still. */
  chore(delayUs: number, action: () => void): () => void {
    let pending = true;
    const number = this.#chores.push(this.nowUs + delayUs, () => {
      pending = false;
      this.announced();
      action();
    });
    return () => {
      if (pending) this.#chores.cancel(number);
      pending = false;
    };
  }

  /** Ends it: nothing happens any more. */
  stop(): void {
    this.#stopped = true;
  }

  /** Has time stand still for those who wait in the event loop, until the function returned is called. */
  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      this.stirred();
    };
  }

  /** Has {@link step} called from the event loop, until the function returned is called. */
  keepRunning(): () => void {
    this.#runners += 1;
    this.stirred();
    return () => {
      this.#runners -= 1;
    };
  }

  /** A program was notified of something that it awaits in the event loop: no time passes before it has had its turn. */
  announced(): void {
    this.#newsRounds = ROUNDS_AFTER_NEWS;
    this.#scheduleRound();
  }

  /** Something new may happen. */
  stirred(): void {
    this.#hopelessPolls = 0;
    this.#patientRounds = 0;
    this.#nextRound();
  }

  #nextRound(): void {
    if (this.#runners > 0) this.#scheduleRound();
  }

  #scheduleRound(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    runtime().nextRound(this.#round);
  }

  readonly #round = (): void => {
    this.#scheduled = false;
    this.#pollsInRound = 0;
    // Work of this package that waits for its turn comes before any time passes.
    if (isTimeHeld()) this.#newsRounds = ROUNDS_AFTER_NEWS;
    else if (this.#newsRounds > 0) this.#newsRounds -= 1;
    const mayYield = this.#runners > 0 && isYielding() && this.#yieldRounds < YIELD_ROUNDS;
    if (this.#newsRounds > 0 || mayYield) {
      if (mayYield) this.#yieldRounds += 1;
      this.#scheduleRound();
      return;
    }
    this.#yieldRounds = 0;
    let steps = 0;
    while (this.#mayRun && steps < STEPS_PER_ROUND && this.#stepInRound()) steps += 1;
    if (steps > 0 || isTimeHeld()) this.#nextRound();
    else if (this.#mayRun) for (const observer of this.#observers) observer.quiet?.();
  };

  /** Whether a program that has polled an empty queue does nothing else until something comes. */
  #pollsForGood(ring: Int32Array): boolean {
    if (this.#runners === 0 && this.#newsRounds === 0) return true;
    if (this.#emptyPolls.size === 0) queueMicrotask(() => this.#emptyPolls.clear());
    const polls = (this.#emptyPolls.get(ring) ?? 0) + 1;
    this.#emptyPolls.set(ring, polls);
    this.#pollsInRound += 1;
    return polls >= POLLS_IN_A_ROW || this.#pollsInRound >= POLLS_IN_A_ROUND;
  }

  /** A step between two rounds of the event loop. Rather than end a program's patience, it lets rounds go by at first. */
  #stepInRound(): boolean {
    if (this.#timers.nextUs === Infinity || this.#stopped) return this.step(Infinity);
    if (this.#turn()) {
      this.#stepped();
      return true;
    }
    if (this.#timers.nextUs >= this.#nextEventUs() || this.#patientRounds >= PATIENT_ROUNDS) return this.step(Infinity);
    this.#patientRounds += 1;
    // This round is over.
    this.#newsRounds = 1;
    return true;
  }

  get #mayRun(): boolean {
    return this.#runners > 0 && this.#holds === 0 && this.#newsRounds === 0 && !isTimeHeld();
  }

  #stepped(): void {
    this.#hopelessPolls = 0;
    this.#patientRounds = 0;
    for (const observer of this.#observers) observer.stepped?.();
  }

  /** When hosts or the network have something to do next. */
  #nextEventUs(): number {
    let nextUs = this.network.nextEventUs();
    for (const { adapter, paused } of this.#hosts) if (!paused) nextUs = Math.min(nextUs, adapter.nextWakeupUs());
    return nextUs;
  }

  #dueTimer(): (() => void) | undefined {
    return this.#timers.popDue(this.nowUs);
  }

  #dueChore(): (() => void) | undefined {
    return this.#chores.popDue(this.nowUs);
  }

  #turn(): boolean {
    let busy = false;
    for (const { adapter, paused } of this.#hosts) if (!paused) busy = adapter.turn(this.nowUs) || busy;
    return busy;
  }
}
