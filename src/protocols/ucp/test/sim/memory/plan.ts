import type { SeededRandom } from '../../../../../device/link/index.js';
import type { AtomicName } from '../../../rma/rma-end.js';
import { abortTime, anyLength, type Chances } from '../chance.js';

/** Of each worker's memory, to each that uses it. */
export const PART_BYTES = 48 * 1024;
/** Words of each worker's memory that all add to. */
export const SHARED_WORDS = 2;

interface Step {
  readonly atUs: number;
  readonly from: number;
  /** Whose memory it is; may be its own. */
  readonly to: number;
  readonly abortAfterUs: number;
}

/** Bytes of the part that is the user's alone. */
export interface AccessStep extends Step {
  readonly kind: 'put' | 'get';
  readonly bytes: number;
  readonly offset: number;
  /** Whether the program's memory can be registered. */
  readonly registers: boolean;
}

export interface AddStep extends Step {
  readonly kind: 'add';
  readonly word: number;
  readonly amount: number;
  readonly isFetching: boolean;
}

/** To the word that is the user's alone, behind a fence. */
export interface WordStep extends Step {
  readonly kind: 'word';
  readonly name: AtomicName;
  readonly value: bigint;
  readonly compare: bigint | undefined;
  readonly isFetching: boolean;
}

/** Puts in order what is before and behind it. */
export interface OrderStep extends Step {
  readonly kind: 'flush' | 'flush all' | 'fence';
}

export type MemoryStep = AccessStep | AddStep | WordStep | OrderStep;

export interface MemoryPlan {
  readonly atomics: 'device' | 'messages';
  readonly steps: readonly MemoryStep[];
}

const NAMES = {
  device: ['add', 'compareSwap'],
  messages: ['add', 'and', 'or', 'xor', 'swap', 'compareSwap'],
} as const satisfies Record<MemoryPlan['atomics'], readonly AtomicName[]>;
/** Few, so that what is compared is there now and then. */
const SMALL = 6;

export function planMemory(random: SeededRandom, chances: Chances): MemoryPlan {
  const { workers, count, lengthUs, aborts, transport } = chances;
  const atomics = transport === 'rc' ? random.pick(['device', 'messages'] as const) : 'messages';
  // Puts and gets that are close to each other see whether they are in order.
  const spread = random.pick([1, 1000, PART_BYTES]);
  const steps = Array.from({ length: count }, (): MemoryStep => {
    const common = {
      atUs: random.below(lengthUs),
      from: random.below(workers),
      to: random.below(workers),
      abortAfterUs: abortTime(random, aborts),
    };
    const kind = random.pick(['put', 'put', 'put', 'get', 'get', 'get', 'add', 'word', 'order'] as const);
    const isFetching = random.chance(0.5);
    switch (kind) {
      case 'put':
      case 'get': {
        const bytes = anyLength(random);
        const offset = random.below(Math.min(spread, PART_BYTES - bytes) + 1);
        return { ...common, kind, bytes, offset, registers: random.chance(0.8) };
      }
      case 'add':
        return { ...common, kind, word: random.below(SHARED_WORDS), amount: random.between(1, 1000), isFetching };
      case 'word': {
        const name = random.pick(NAMES[atomics]);
        const value = BigInt(random.below(SMALL));
        const compare = name === 'compareSwap' ? BigInt(random.below(SMALL)) : undefined;
        return { ...common, kind, name, value, compare, isFetching };
      }
      case 'order':
        return { ...common, kind: random.pick(['flush', 'flush all', 'fence', 'fence'] as const) };
    }
  });
  return { atomics, steps };
}
