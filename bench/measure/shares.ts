/** What several reach together who move bytes at the same time, and whether each gets its share. */
import type { Measurement } from './measurement.js';

/** What so many reach together. */
export interface Shares {
  /** 10^9 bytes a second, of all of them. */
  readonly goodput: Measurement;
  /** What the slowest got, in parts of an equal share, for each stretch. */
  readonly leastShare: Measurement;
  readonly largestShare: Measurement;
}

/** 10^9 bytes a second and shares, of what each moved in each stretch. */
export function evaluateShares(bytesOfEach: readonly (readonly number[])[], stretchMs: number): Shares {
  const stretches = bytesOfEach[0].map((_, stretch) => bytesOfEach.map((bytes) => bytes[stretch]));
  const sum = (bytes: readonly number[]): number => bytes.reduce((all, one) => all + one, 0);
  const share = (bytes: readonly number[], one: number): number => (one * bytes.length) / Math.max(1, sum(bytes));
  return {
    goodput: { samples: stretches.map((bytes) => sum(bytes) / stretchMs / 1e6) },
    leastShare: { samples: stretches.map((bytes) => share(bytes, Math.min(...bytes))) },
    largestShare: { samples: stretches.map((bytes) => share(bytes, Math.max(...bytes))) },
  };
}
