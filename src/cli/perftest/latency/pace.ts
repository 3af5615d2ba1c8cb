import { spin } from '../running/run.js';
import { type Settings } from '../settings.js';
import { type Timing } from '../running/timing.js';

/** Takes the times of messages that go one after the other. */
export class Pace {
  readonly timing: Timing | undefined;
  /** When each was posted; milliseconds. */
  readonly postedMs: Float64Array;
  /** In a run of a certain time: how many were counted. */
  counted = 0;
  readonly #iterations: number;
  readonly #gapUs: number;
  #posted = 0;
  #begunMs = 0;

  constructor({ iterations }: Settings, timing: Timing | undefined, gapUs: number) {
    this.timing = timing;
    this.postedMs = new Float64Array(timing === undefined ? iterations : 0);
    this.#iterations = iterations;
    this.#gapUs = gapUs;
  }

  /** Whether another message is to be posted. */
  get goesOn(): boolean {
    return this.timing === undefined ? this.#posted < this.#iterations : !this.timing.over;
  }

  /** A message is about to be posted. @returns its number, from 1 on */
  post(): number {
    if (this.#gapUs > 0) spin(this.#gapUs);
    if (this.timing === undefined) this.postedMs[this.#posted] = performance.now();
    if (this.#posted === 0) this.#begunMs = performance.now();
    this.#posted += 1;
    return this.#posted;
  }

  /** How many messages were posted, and for how long: milliseconds. */
  soFar(nowMs: number): { readonly posted: number; readonly elapsedMs: number } {
    return { posted: this.#posted, elapsedMs: nowMs - this.#begunMs };
  }

  count(): void {
    if (this.timing?.counts === true) this.counted += 1;
  }

  /** Takes the time, where that says when it is over. */
  look(): void {
    if (this.timing?.hasBegun === true) this.timing.look(performance.now());
  }

  get isTimeOver(): boolean {
    return this.timing?.over === true;
  }
}
