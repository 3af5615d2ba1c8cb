import { SeededRandom, type SimulatedNetwork } from '../link/index.js';
import { SyntheticAddresses } from './memory-locator.js';
import type { SimulatedHost } from './simulated-host.js';

/** Steps between two rounds of the event loop, which others want to use as well. */
const STEPS_PER_ROUND = 64;
/** Keys and QP numbers are drawn from a sequence of their own, so that they do not change with the network's luck. */
const KEY_SEED = 0x5eed;

/** What moves the adapters of one simulated network: virtual time, which passes when somebody waits. */
export class Simulation {
  readonly addresses = new SyntheticAddresses();
  readonly random: () => number;

  readonly #hosts: SimulatedHost[] = [];
  #runners = 0;
  #scheduled = false;
  #awaited = false;

  constructor(
    readonly network: SimulatedNetwork,
    seed: number,
  ) {
    this.random = new SeededRandom(seed ^ KEY_SEED).u32;
  }

  get nowUs(): number {
    return this.network.nowUs;
  }

  add(host: SimulatedHost): void {
    this.#hosts.push(host);
  }

  remove(host: SimulatedHost): void {
    this.#hosts.splice(this.#hosts.indexOf(host), 1);
  }

  /** Lets the next thing happen, but none after `untilUs`. @returns false when nothing will ever happen */
  step(untilUs: number): boolean {
    if (this.#turn()) return true;
    let nextUs = this.network.nextEventUs();
    for (const { adapter } of this.#hosts) nextUs = Math.min(nextUs, adapter.nextWakeupUs());
    if (nextUs === Infinity && untilUs === Infinity) return false;
    this.network.advanceTo(Math.min(nextUs, untilUs));
    this.#turn();
    return true;
  }

  /** Has {@link step} called from the event loop, until the function returned is called. */
  keepRunning(): () => void {
    this.#runners += 1;
    this.stirred();
    return () => {
      this.#runners -= 1;
    };
  }

  /** What somebody awaits in the event loop has come: no time passes before they have had their turn. */
  announced(): void {
    this.#awaited = true;
  }

  /** Something new may happen. */
  stirred(): void {
    if (this.#runners === 0 || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#awaited = false;
      let steps = 0;
      while (this.#mayRun && steps < STEPS_PER_ROUND && this.step(Infinity)) steps += 1;
      if (steps > 0) this.stirred();
    });
  }

  get #mayRun(): boolean {
    return this.#runners > 0 && !this.#awaited;
  }

  #turn(): boolean {
    let busy = false;
    for (const { adapter } of this.#hosts) busy = adapter.turn(this.nowUs) || busy;
    return busy;
  }
}
