import type { SeededRandom } from '../../../../../device/link/index.js';
import { abortTime, anyLength, type Chances } from '../chance.js';

export interface StreamStep {
  readonly kind: 'send' | 'receive';
  readonly atUs: number;
  readonly at: number;
  /** To or from whom; may be itself. */
  readonly peer: number;
  readonly bytes: number;
  readonly elementBytes: number;
  readonly waitAll: boolean;
  /** Whether the program packs or unpacks by itself. */
  readonly isTyped: boolean;
  readonly abortAfterUs: number;
}

export function planStreams(random: SeededRandom, { workers, count, lengthUs, aborts }: Chances): StreamStep[] {
  return Array.from({ length: count }, () => {
    const elementBytes = random.pick([1, 1, 4, 8, 24]);
    const kind = random.pick(['send', 'receive'] as const);
    const atUs = random.below(lengthUs);
    return {
      kind,
      atUs,
      at: random.below(workers),
      peer: random.below(workers),
      bytes: kind === 'send' ? anyLength(random) : anyLength(random) + elementBytes,
      elementBytes,
      waitAll: random.chance(0.3),
      isTyped: atUs % 5 === 0,
      abortAfterUs: abortTime(random, aborts),
    };
  });
}
