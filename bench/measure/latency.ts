import { type Effort, type Measurement, type Percentiles } from './measurement.js';

/** More than that in one stretch are not kept: memory taken while measuring would be seen in the figures. */
const MOST_ROUNDS = 1 << 20;

/** The time that so many of the sorted times do not exceed. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) throw new RangeError('no times');
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/**
 * Takes the time at the end of each round. Samples are the medians of the stretches, percentiles those of all rounds together.
 */
export class LatencyRecorder {
  readonly #effort: Effort;
  readonly #roundsUs = new Float64Array(MOST_ROUNDS);
  readonly #stretches: Float64Array[] = [];
  #count = 0;
  #warm = false;
  #begun = 0;
  #last = 0;

  /** @param legs how many ways a round consists of: figures are of one */
  constructor(
    effort: Effort,
    private readonly legs = 2,
  ) {
    this.#effort = effort;
    // So that the kernel has given all of it before the first round.
    this.#roundsUs.fill(0);
  }

  start(): void {
    this.#begun = performance.now();
    this.#last = this.#begun;
  }

  /** What has passed since the last round is no part of the next one. */
  resume(): void {
    this.#last = performance.now();
  }

  /** A round has ended, and the next begins. @returns whether there is to be a next */
  lap(): boolean {
    const now = performance.now();
    if (this.#count < MOST_ROUNDS) {
      this.#roundsUs[this.#count] = (now - this.#last) * 1000;
      this.#count += 1;
    }
    this.#last = now;
    const { stretches, stretchMs, warmUpMs } = this.#effort;
    if (now - this.#begun < (this.#warm ? stretchMs : warmUpMs)) return true;
    if (this.#warm) this.#stretches.push(this.#roundsUs.slice(0, this.#count));
    this.#warm = true;
    this.#count = 0;
    if (this.#stretches.length === stretches) return false;
    // What a stretch is put away with is no part of a round.
    this.start();
    return true;
  }

  measurement(): Measurement & { readonly percentiles: Percentiles } {
    const samples = this.#stretches.map((times) => percentile(times.sort(), 0.5) / this.legs);
    const all = new Float64Array(this.#stretches.reduce((sum, { length }) => sum + length, 0));
    let offset = 0;
    for (const times of this.#stretches) {
      all.set(times, offset);
      offset += times.length;
    }
    all.sort();
    const oneLeg = (share: number): number => percentile(all, share) / this.legs;
    return { samples, percentiles: { p50: oneLeg(0.5), p99: oneLeg(0.99), p999: oneLeg(0.999) } };
  }
}

export function measureRounds(effort: Effort, round: () => void): Measurement {
  const recorder = new LatencyRecorder(effort);
  recorder.start();
  do round();
  while (recorder.lap());
  return recorder.measurement();
}
