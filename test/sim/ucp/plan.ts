import { type LinkConditions, SeededRandom } from '../../../src/device/link/index.js';
import type { Thresholds } from '../../../src/layers/ucp/protocol/index.js';

/** What one seed stands for: workers that all have endpoints to each other, what their programs ask for, and what goes wrong. */

export interface SendStep {
  readonly kind: 'send';
  readonly atUs: number;
  readonly from: number;
  /** May be the sender itself. */
  readonly to: number;
  readonly tag: number;
  /** 0, or 4 and more, so that a message can tell which it is. */
  readonly bytes: number;
  readonly isSync: boolean;
  /** Whether the memory can be registered. */
  readonly registers: boolean;
  /** µs until the program gives it up; Infinity is never. */
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
  readonly abortAfterUs: number;
}

export type DisasterPlan =
  /** The host never comes back. */
  | { readonly kind: 'crash'; readonly host: number; readonly atUs: number; readonly forUs: 0 }
  | { readonly kind: 'pause' | 'partition'; readonly host: number; readonly atUs: number; readonly forUs: number }
  | { readonly kind: 'close'; readonly host: number; readonly peer: number; readonly atUs: number; readonly forUs: 0 };

export interface UcpPlan {
  readonly seed: number;
  readonly workers: number;
  readonly conditions: Partial<LinkConditions>;
  readonly window: number;
  readonly thresholds: Partial<Thresholds>;
  readonly keepAliveMs: number;
  readonly steps: readonly (SendStep | ReceiveStep)[];
  readonly disasters: readonly DisasterPlan[];
}

const SECOND = 1e6;
/** The longest message. */
export const MOST_BYTES = 40_000;
const TAG_BITS = 3;
const MASKS = [-1, -1, -1, 0, 1, 6];

function anyLength(random: SeededRandom): number {
  const kind = random.fraction();
  if (kind < 0.08) return 0;
  if (kind < 0.4) return random.between(4, 300);
  if (kind < 0.6) return random.between(300, 9000);
  // About the borders between protocols.
  if (kind < 0.75) return random.pick([231, 247, 4135, 4143, 4151, 8192, 12_000]) + random.between(-2, 2);
  return random.between(9000, MOST_BYTES);
}

function abortTime(random: SeededRandom, probability: number): number {
  if (!random.chance(probability)) return Infinity;
  return random.pick([0, random.below(5), random.below(60), random.below(3000)]);
}

function planSteps(random: SeededRandom, workers: number): (SendStep | ReceiveStep)[] {
  const count = random.pick([10, 40, random.below(120)]);
  const lengthUs = random.pick([10, 500, 20_000]);
  const aborts = random.pick([0, 0, 0.1, 0.4]);
  const tag = (): number => random.below(1 << TAG_BITS);
  return Array.from({ length: count }, () => {
    const atUs = random.below(lengthUs);
    const registers = random.chance(0.8);
    const abortAfterUs = abortTime(random, aborts);
    if (random.chance(0.5)) {
      const [from, to] = [random.below(workers), random.below(workers)];
      const isSync = random.chance(0.2);
      return { kind: 'send', atUs, from, to, tag: tag(), bytes: anyLength(random), isSync, registers, abortAfterUs };
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
      abortAfterUs,
    };
  });
}

function planDisaster(random: SeededRandom, workers: number): DisasterPlan {
  const host = random.below(workers);
  const atUs = random.below(random.pick([100, 5000, 20_000]));
  const kind = random.pick(['crash', 'pause', 'partition', 'close'] as const);
  if (kind === 'crash') return { kind, host, atUs, forUs: 0 };
  if (kind === 'close') return { kind, host, peer: random.below(workers), atUs, forUs: 0 };
  return { kind, host, atUs, forUs: random.pick([100, 5000, SECOND, 30 * SECOND]) };
}

export function planUcp(seed: number): UcpPlan {
  const random = new SeededRandom(seed);
  const workers = random.pick([2, 2, 3, random.between(2, 8)]);
  const isRough = random.chance(0.5);
  return {
    seed,
    workers,
    conditions: {
      delayUs: random.pick([1, 5, 50]),
      ...(isRough && {
        jitterUs: random.below(20),
        loss: random.pick([0, 0.002, 0.01]),
        duplication: random.pick([0, 0.01]),
        reordering: random.pick([0, 0.02]),
        corruption: random.pick([0, 0.002]),
      }),
    },
    window: random.pick([1, 2, 5, 32]),
    thresholds: {
      rndv: random.pick([0, 1000, 8192, 8192, Infinity]),
      zcopy: random.pick([Infinity, 0, 1000]),
      rndvScheme: random.pick(['auto', 'auto', 'put_zcopy', 'am'] as const),
    },
    keepAliveMs: random.pick([1, 50, 20_000]),
    steps: planSteps(random, workers),
    disasters: random.chance(0.35)
      ? Array.from({ length: random.between(1, 2) }, () => planDisaster(random, workers))
      : [],
  };
}

export function describeUcp({ seed, workers, steps, thresholds, disasters }: UcpPlan): string {
  const { rndv, rndvScheme } = thresholds;
  const what = disasters.map(({ kind, host, atUs }) => `${kind} of host ${host} at ${atUs} µs`).join(', ');
  const how = `rendezvous from ${String(rndv)} bytes on by ${String(rndvScheme)}`;
  return `seed ${seed}: ${workers} workers, ${steps.length} steps, ${how}${what && `, ${what}`}`;
}
