import type { SeededRandom } from '../../../../../device/link/index.js';
import { abortTime, anyLength, type Chances, MOST_BYTES } from '../chance.js';

export interface Handling {
  readonly how: 'read' | 'fetch' | 'keep' | 'ignore';
  /** µs that it keeps it. */
  readonly forUs: number;
  readonly bytes: number;
  readonly registers: boolean;
  /** Whether the program unpacks by itself. */
  readonly isTyped: boolean;
  readonly abortAfterUs: number;
}

export interface AmStep {
  readonly atUs: number;
  readonly from: number;
  readonly to: number;
  readonly isHandled: boolean;
  /** Of the header, at least 4: the number of the message. */
  readonly headerBytes: number;
  readonly bytes: number;
  readonly reply: boolean;
  readonly protocol: 'eager' | 'rendezvous' | undefined;
  readonly registers: boolean;
  /** Whether the program packs by itself. */
  readonly isTyped: boolean;
  readonly abortAfterUs: number;
  readonly handling: Handling;
}

export function planAms(random: SeededRandom, { workers, count, lengthUs, aborts }: Chances): AmStep[] {
  return Array.from({ length: count }, () => {
    const atUs = random.below(lengthUs);
    return {
      atUs,
      from: random.below(workers),
      to: random.below(workers),
      isHandled: random.chance(0.95),
      headerBytes: 4 + random.pick([0, 0, random.below(40), random.below(3000)]),
      bytes: anyLength(random),
      reply: random.chance(0.3),
      protocol: random.pick([undefined, undefined, 'eager', 'rendezvous'] as const),
      registers: random.chance(0.8),
      isTyped: atUs % 5 === 0,
      abortAfterUs: abortTime(random, aborts),
      handling: {
        how: random.pick(['read', 'fetch', 'fetch', 'keep', 'ignore'] as const),
        forUs: random.below(random.pick([5, 100, 3000])),
        bytes: random.chance(0.1) ? anyLength(random) : MOST_BYTES,
        registers: random.chance(0.8),
        isTyped: atUs % 7 === 0,
        abortAfterUs: abortTime(random, aborts),
      },
    };
  });
}
