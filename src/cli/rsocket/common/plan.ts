import type { StreamFlags } from './flags.js';
import { type Purpose, sizesOf, type StreamTest, testOf } from './tests.js';

const CUSTOM_COUNT = 1000;
const CUSTOM_BYTES = 1000;

export interface Round {
  readonly purpose: Purpose;
  readonly tests: readonly StreamTest[];
}

/** The connections that the command line asks for, in their order: one for a custom test, else one for latency and one for bandwidth. */
export function roundsOf({ I: iterations, C: transfers, S: size }: StreamFlags): readonly Round[] {
  if (iterations === undefined && transfers === undefined && typeof size !== 'number') {
    const sizes = sizesOf(size === 'all');
    return (['latency', 'bandwidth'] as const).map((purpose) => ({
      purpose,
      tests: sizes.map((sizeBytes) => testOf(purpose, sizeBytes)),
    }));
  }
  const test = {
    name: 'custom',
    sizeBytes: typeof size === 'number' ? size : CUSTOM_BYTES,
    transfers: transfers ?? CUSTOM_COUNT,
    iterations: iterations ?? 1,
  };
  return [{ purpose: 'custom', tests: [test] }];
}

/** Bytes of memory that the largest of them takes. */
export function memoryBytes(rounds: readonly Round[]): number {
  const largest = Math.max(...rounds.flatMap(({ tests }) => tests.map(({ sizeBytes }) => sizeBytes)));
  return Math.max(largest, SYNC_BYTES);
}

/** What the sides exchange before each test. */
export const SYNC_BYTES = 16;
