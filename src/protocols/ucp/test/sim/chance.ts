import type { SeededRandom } from '../../../../device/link/index.js';

/** The longest message. */
export const MOST_BYTES = 40_000;

/** 0, or 4 and more, so that a message can tell which it is. */
export function anyLength(random: SeededRandom): number {
  const kind = random.fraction();
  if (kind < 0.08) return 0;
  if (kind < 0.4) return random.between(4, 300);
  if (kind < 0.6) return random.between(300, 9000);
  // About the borders between protocols.
  if (kind < 0.75) return random.pick([231, 247, 4135, 4143, 4151, 8192, 12_000]) + random.between(-2, 2);
  return random.between(9000, MOST_BYTES);
}

/** µs until the program gives something up; Infinity is never. */
export function abortTime(random: SeededRandom, probability: number): number {
  if (!random.chance(probability)) return Infinity;
  return random.pick([0, random.below(5), random.below(60), random.below(3000)]);
}

export interface Chances {
  readonly workers: number;
  readonly transport: 'rc' | 'ud';
  readonly count: number;
  /** µs from the first to the last. */
  readonly lengthUs: number;
  /** Of each step, that it is given up. */
  readonly aborts: number;
}
