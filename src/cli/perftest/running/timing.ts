import { type Period } from '../settings.js';

/** Tells when to count in a run that lasts for a certain time: between its margins. */
export class Timing {
  readonly #period: Period;
  #begun = NaN;
  #sampledFrom = NaN;
  #sampledTo = NaN;
  #over = false;

  constructor(period: Period) {
    this.#period = period;
  }

  /** Has it begin now. */
  begin(now: number): void {
    this.#begun = now;
    this.#sampledFrom = NaN;
    this.#sampledTo = NaN;
    this.#over = false;
    this.look(now);
  }

  /** Takes the time. To be called often: what is counted belongs to the time of the last look. */
  look(now: number): void {
    const { durationMs, marginMs } = this.#period;
    const elapsed = now - this.#begun;
    if (elapsed >= marginMs && Number.isNaN(this.#sampledFrom)) this.#sampledFrom = now;
    if (elapsed >= durationMs - marginMs && Number.isNaN(this.#sampledTo)) this.#sampledTo = now;
    if (elapsed >= durationMs) this.#over = true;
  }

  /** Has it end before its time. */
  end(now: number): void {
    if (Number.isNaN(this.#sampledTo)) this.#sampledTo = now;
    this.#over = true;
  }

  get hasBegun(): boolean {
    return !Number.isNaN(this.#begun);
  }

  get counts(): boolean {
    return !Number.isNaN(this.#sampledFrom) && Number.isNaN(this.#sampledTo);
  }

  get over(): boolean {
    return this.#over;
  }

  /** For how long it has counted. */
  get sampledMs(): number {
    return this.#sampledTo - this.#sampledFrom;
  }
}
