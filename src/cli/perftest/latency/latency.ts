/** What came out of a run of messages one after the other; microseconds. */
export interface Latency {
  readonly sizeBytes: number;
  readonly iterations: number;
  readonly min: number;
  readonly max: number;
  readonly typical: number;
  readonly average: number;
  readonly deviation: number;
  readonly percentile99: number;
  readonly percentile999: number;
}

/** What came out of a run of a certain duration. */
export interface LatencyOfDuration {
  readonly sizeBytes: number;
  readonly iterations: number;
  readonly average: number;
  /** Transactions a second. */
  readonly perSecond: number;
}

/** The C tools leave the slowest two out of all figures, so that one hiccup of the machine spoils none. */
const LEFT_OUT = 2;

/** The times between one post and the next, in order; of a message that goes to and fro, half of that. */
export function samplesOf(postedMs: Float64Array, count: number, isRoundTrip: boolean): Float64Array {
  const samples = new Float64Array(Math.max(0, count - 1));
  const usPerMs = isRoundTrip ? 500 : 1000;
  for (let i = 0; i < samples.length; i += 1) samples[i] = (postedMs[i + 1] - postedMs[i]) * usPerMs;
  return samples;
}

/** Those that the figures are made of, in order of length. */
export function countedSamples(samples: Float64Array): Float64Array {
  return samples
    .slice()
    .sort()
    .subarray(0, Math.max(0, samples.length - LEFT_OUT));
}

function median(sorted: Float64Array): number {
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 0 ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle];
}

/** @param samples at least three */
export function latencyOf(samples: Float64Array, sizeBytes: number): Latency {
  const sorted = samples.slice().sort();
  const counted = countedSamples(samples);
  const { length } = counted;
  const average = counted.reduce((sum, sample) => sum + sample, 0) / length;
  const variance = counted.reduce((sum, sample) => sum + (sample - average) ** 2, 0) / length;
  return {
    sizeBytes,
    iterations: samples.length + 1,
    min: sorted[0],
    // The first that is left out, as in the C tools: so are the percentiles of few samples.
    max: sorted[length],
    typical: median(counted),
    average,
    deviation: Math.sqrt(variance),
    percentile99: sorted[Math.ceil(length * 0.99)],
    percentile999: sorted[Math.ceil(length * 0.999)],
  };
}

export function latencyOfDuration(
  count: number,
  elapsedMs: number,
  sizeBytes: number,
  isRoundTrip: boolean,
): LatencyOfDuration {
  const us = elapsedMs * (isRoundTrip ? 500 : 1000);
  return { sizeBytes, iterations: count, average: us / count, perSecond: (count / elapsedMs) * 1000 };
}
