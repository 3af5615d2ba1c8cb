export interface Figure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly samples: number;
}

/** The middle of some samples, and how far they lie apart. */
export function figureOf(samples: readonly number[]): Figure {
  if (samples.length === 0) throw new RangeError('no samples');
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, min: sorted[0], max: sorted[sorted.length - 1], samples: sorted.length };
}
