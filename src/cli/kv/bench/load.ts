import type { RecordableHistogram } from 'node:perf_hooks';
import type { KvCalls } from '../../../entry/kv.js';
import { Load } from '../../kit/load.js';
import type { Workload } from './workload.js';

/** What was counted while it was measured. */
export interface LoadResult {
  readonly window: number;
  readonly seconds: number;
  readonly operations: number;
  readonly gets: number;
  readonly found: number;
  readonly puts: number;
  /** Of the gets: those that READs alone served. */
  readonly oneSided: number;
  /** Of the requests that clients sent: those that they sent again. */
  readonly repeats: number;
  readonly latencyUs: Latencies;
}

/** In microseconds, from the call until its promise was resolved. */
export interface Latencies {
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly max: number;
}

const NONE: Latencies = { mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 };
function latenciesOf(histogram: RecordableHistogram): Latencies {
  if (histogram.count === 0) return NONE;
  const us = (ns: number): number => Math.round(ns / 100) / 10;
  return {
    mean: us(histogram.mean),
    p50: us(histogram.percentile(50)),
    p90: us(histogram.percentile(90)),
    p99: us(histogram.percentile(99)),
    p999: us(histogram.percentile(99.9)),
    max: us(histogram.max),
  };
}

/** Clients that each keep so many requests under way: whichever is answered makes room for the next. */
export class KvLoad extends Load {
  readonly #clients: readonly KvCalls[];
  readonly #workload: Workload;
  readonly #window: number;
  #repeatsBefore = 0;
  #hitsBefore = 0;
  #gets = 0;
  #found = 0;
  #puts = 0;

  constructor(clients: readonly KvCalls[], workload: Workload, window: number) {
    super();
    this.#clients = clients;
    this.#workload = workload;
    this.#window = window;
  }

  /** @throws KvError (the promise rejects) of the first request that fails; that ends all others as well */
  run(warmUpMs: number, measuredMs: number): Promise<void> {
    const lanes = (client: KvCalls): Promise<void>[] => Array.from({ length: this.#window }, () => this.#ask(client));
    return this.play(warmUpMs, measuredMs, () => Promise.resolve(this.#clients.flatMap(lanes)));
  }

  /** Also before it is over: then that of what was so far. */
  get result(): LoadResult {
    return {
      window: this.#window,
      seconds: this.seconds,
      operations: this.#gets + this.#puts,
      gets: this.#gets,
      found: this.#found,
      puts: this.#puts,
      oneSided: this.isMeasured ? this.#hits() - this.#hitsBefore : 0,
      repeats: this.isMeasured ? this.#repeats() - this.#repeatsBefore : 0,
      latencyUs: latenciesOf(this.histogram),
    };
  }

  protected override measure(): void {
    this.#repeatsBefore = this.#repeats();
    this.#hitsBefore = this.#hits();
    super.measure();
  }

  #repeats(): number {
    return this.#clients.reduce((sum, { statistics }) => sum + statistics.repeats, 0);
  }

  #hits(): number {
    return this.#clients.reduce((sum, { statistics }) => sum + (statistics.oneSided?.hits ?? 0), 0);
  }

  /** One request after the other. */
  async #ask(client: KvCalls): Promise<void> {
    const workload = this.#workload;
    while (!this.isOver) {
      const isPut = workload.isPut();
      const sentMs = performance.now();
      const found = isPut ? await client.set(workload.key(), workload.value()) : await client.get(workload.key());
      this.#count(sentMs, isPut, found !== undefined);
    }
  }

  #count(sentMs: number, isPut: boolean, isFound: boolean): void {
    // What was sent before it was measured, or is answered when that is over, belongs to another time.
    if (this.isOver || !this.isMeasured || sentMs < this.begunMs) return;
    this.record(sentMs);
    if (isPut) this.#puts += 1;
    else this.#gets += 1;
    if (!isPut && isFound) this.#found += 1;
  }
}
