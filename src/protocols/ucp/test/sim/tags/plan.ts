import type { SeededRandom } from '../../../../../device/link/index.js';
import { abortTime, anyLength, type Chances, MOST_BYTES } from '../chance.js';

export interface SendStep {
  readonly kind: 'send';
  readonly atUs: number;
  readonly from: number;
  readonly to: number;
  readonly tag: number;
  readonly bytes: number;
  readonly isSync: boolean;
  readonly registers: boolean;
  /** Whether the program packs or unpacks by itself. */
  readonly isTyped: boolean;
  readonly abortAfterUs: number;
}

export interface ReceiveStep {
  readonly kind: 'receive';
  readonly atUs: number;
  readonly at: number;
  readonly tag: number;
  readonly mask: number;
  readonly bytes: number;
  /** It takes what is there, if anything is, and receives that later by so many µs; undefined for an ordinary receive. */
  readonly takesForUs: number | undefined;
  readonly registers: boolean;
  /** Whether the program packs or unpacks by itself. */
  readonly isTyped: boolean;
  readonly abortAfterUs: number;
}

export type TagStep = SendStep | ReceiveStep;

const TAG_BITS = 3;
const MASKS = [-1, -1, -1, 0, 1, 6];

export function planTags(random: SeededRandom, { workers, count, lengthUs, aborts }: Chances): TagStep[] {
  const tag = (): number => random.below(1 << TAG_BITS);
  return Array.from({ length: count }, () => {
    const atUs = random.below(lengthUs);
    const registers = random.chance(0.8);
    const abortAfterUs = abortTime(random, aborts);
    const isTyped = atUs % 5 === 0;
    if (random.chance(0.5)) {
      const [from, to] = [random.below(workers), random.below(workers)];
      const isSync = random.chance(0.2);
      return {
        kind: 'send',
        atUs,
        from,
        to,
        tag: tag(),
        bytes: anyLength(random),
        isSync,
        registers,
        isTyped,
        abortAfterUs,
      };
    }
    const isShort = random.chance(0.2);
    return {
      kind: 'receive',
      atUs,
      at: random.below(workers),
      tag: tag(),
      mask: random.pick(MASKS),
      bytes: isShort ? anyLength(random) : MOST_BYTES,
      takesForUs: random.chance(0.15) ? random.below(500) : undefined,
      registers,
      isTyped,
      abortAfterUs,
    };
  });
}
