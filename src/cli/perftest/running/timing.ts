import { cpus } from 'node:os';
import { type Period } from '../settings.js';

/** How busy the processors are, as the C tools have it: of the time in programs and in idleness, the share of programs. */
export class CpuMeter {
  #user = 0;
  #idle = 0;
  #percent: number | undefined;

  begin(): void {
    [this.#user, this.#idle] = cpuTimes();
    this.#percent = undefined;
  }

  /** Measures no longer. */
  end(): void {
    this.#percent = this.#now();
  }

  /** Until {@link end}, or so far. */
  get percent(): number {
    return this.#percent ?? this.#now();
  }

  #now(): number {
    const [user, idle] = cpuTimes();
    const all = user - this.#user + idle - this.#idle;
    return all > 0 ? ((user - this.#user) / all) * 100 : 0;
  }
}

/** What all processors together have spent in programs, and idle; milliseconds. */
function cpuTimes(): readonly [user: number, idle: number] {
  const times = cpus().map((cpu) => cpu.times);
  return [times.reduce((sum, { user }) => sum + user, 0), times.reduce((sum, { idle }) => sum + idle, 0)];
}

/** Tells when to count in a run that lasts for a certain time: between its margins. */
export class Timing {
  /** How busy the processors are while it counts. */
  readonly cpu: CpuMeter | undefined;
  readonly #period: Period;
  #begun = NaN;
  #sampledFrom = NaN;
  #sampledTo = NaN;
  #over = false;

  constructor(period: Period, cpu?: CpuMeter) {
    this.#period = period;
    this.cpu = cpu;
  }

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
    if (elapsed >= marginMs && Number.isNaN(this.#sampledFrom)) {
      this.#sampledFrom = now;
      this.cpu?.begin();
    }
    if (elapsed >= durationMs - marginMs && Number.isNaN(this.#sampledTo)) this.#sampleUntil(now);
    if (elapsed >= durationMs) this.#over = true;
  }

  /** Has it end before its time. */
  end(now: number): void {
    if (Number.isNaN(this.#sampledTo)) this.#sampleUntil(now);
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

  get sampledMs(): number {
    return this.#sampledTo - this.#sampledFrom;
  }

  #sampleUntil(now: number): void {
    this.#sampledTo = now;
    this.cpu?.end();
  }
}
