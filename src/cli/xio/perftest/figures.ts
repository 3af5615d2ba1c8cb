import { emptyHistogram } from '../../kit/load.js';
import type { Counted } from './load.js';

/** What came out of one size, of all threads together. */
export interface Figures {
  readonly bytes: number;
  readonly threads: number;
  readonly requests: number;
  readonly perSecond: number;
  /** From a request until its answer. */
  readonly latencyUs: Latencies;
}

export interface Latencies {
  readonly mean: number;
  readonly low: number;
  readonly p50: number;
  readonly p99: number;
  readonly peak: number;
}

const NONE: Latencies = { mean: 0, low: 0, p50: 0, p99: 0, peak: 0 };

/** Adds up what threads have counted, each in its own time. */
export function figuresOf(bytes: number, counted: readonly Counted[]): Figures {
  const all = emptyHistogram();
  for (const { histogram } of counted) all.add(histogram);
  const us = (ns: number): number => Math.round(ns / 10) / 100;
  return {
    bytes,
    threads: counted.length,
    requests: counted.reduce((sum, { requests }) => sum + requests, 0),
    perSecond: counted.reduce((sum, { requests, seconds }) => sum + (seconds === 0 ? 0 : requests / seconds), 0),
    latencyUs:
      all.count === 0
        ? NONE
        : {
            mean: us(all.mean),
            low: us(all.min),
            p50: us(all.percentile(50)),
            p99: us(all.percentile(99)),
            peak: us(all.max),
          },
  };
}
