/** The steps of a connection's life, in their order, by the names that the C tool prints. */
export const STEPS = [
  'create id',
  'bind addr',
  'resolve addr',
  'resolve route',
  'create qp',
  'connect',
  'disconnect',
  'destroy',
] as const;
export type Step = (typeof STEPS)[number];

export interface StepResult {
  readonly step: Step;
  /** From the first connection's beginning to the last one's end. */
  readonly totalUs: number;
  /** Of one connection; 0 when none came through. */
  readonly maxUs: number;
  readonly minUs: number;
  readonly perConnectionUs: number;
}

const US_PER_MS = 1000;

/** The times of one step: of each connection, and of all together. */
class Lap {
  readonly begun: Float64Array;
  readonly ended: Float64Array;
  firstMs = 0;
  /** NaN until the step is over. */
  lastMs = NaN;

  constructor(connections: number) {
    this.begun = new Float64Array(connections).fill(NaN);
    this.ended = new Float64Array(connections).fill(NaN);
  }
}

/** Takes the time of every step of every connection. */
export class StepClock {
  readonly #connections: number;
  readonly #laps = new Map<Step, Lap>();

  constructor(connections: number) {
    this.#connections = connections;
  }

  open(step: Step): void {
    const lap = new Lap(this.#connections);
    this.#laps.set(step, lap);
    lap.firstMs = performance.now();
  }

  /** All connections have taken it, or failed. */
  close(step: Step): void {
    const lap = this.#laps.get(step);
    if (lap !== undefined) lap.lastMs = performance.now();
  }

  begin(step: Step, connection: number): void {
    const lap = this.#laps.get(step);
    if (lap !== undefined) lap.begun[connection] = performance.now();
  }

  end(step: Step, connection: number): void {
    const lap = this.#laps.get(step);
    if (lap !== undefined) lap.ended[connection] = performance.now();
  }

  results(): StepResult[] {
    const results: StepResult[] = [];
    for (const [step, { begun, ended, firstMs, lastMs }] of this.#laps) {
      if (Number.isNaN(lastMs)) continue;
      const took = Array.from(ended, (end, i) => (end - begun[i]) * US_PER_MS).filter((us) => !Number.isNaN(us));
      const totalUs = (lastMs - firstMs) * US_PER_MS;
      const maxUs = took.reduce((most, us) => Math.max(most, us), 0);
      const minUs = took.length === 0 ? 0 : took.reduce((least, us) => Math.min(least, us), Infinity);
      results.push({ step, totalUs, maxUs, minUs, perConnectionUs: totalUs / this.#connections });
    }
    return results;
  }
}
