import { type LinkConditions, SeededRandom } from '../../../../device/link/index.js';
import type { Thresholds } from '../../protocol/index.js';
import { type AmStep, planAms } from './ams/plan.js';
import type { Chances } from './chance.js';
import { type MemoryPlan, planMemory } from './memory/plan.js';
import { planStreams, type StreamStep } from './streams/plan.js';
import { planTags, type TagStep } from './tags/plan.js';
import { planWireup, type WireupStep } from './wireup/plan.js';

/** What one seed stands for: workers that all have endpoints to each other, what their programs ask for, and what goes wrong. */

export type DisasterPlan =
  /** The host never comes back. */
  | { readonly kind: 'crash'; readonly host: number; readonly atUs: number; readonly forUs: 0 }
  | { readonly kind: 'pause' | 'partition'; readonly host: number; readonly atUs: number; readonly forUs: number }
  | { readonly kind: 'close'; readonly host: number; readonly peer: number; readonly atUs: number; readonly forUs: 0 };

export interface UcpPlan {
  readonly seed: number;
  readonly workers: number;
  readonly transport: 'rc' | 'ud';
  readonly conditions: Partial<LinkConditions>;
  readonly window: number;
  readonly thresholds: Partial<Thresholds>;
  readonly keepAliveMs: number;
  readonly tags: readonly TagStep[];
  readonly memory: MemoryPlan;
  readonly ams: readonly AmStep[];
  readonly streams: readonly StreamStep[];
  readonly disasters: readonly DisasterPlan[];
  /** How workers ask for each other at first: by a listener's address, or each pair of them by the worker's, both within so many µs. */
  readonly byAddressWithinUs: number | undefined;
  readonly wireup: readonly WireupStep[];
}

const SECOND = 1e6;
const FAMILIES = ['tags', 'memory', 'ams', 'streams'] as const;
const CASTS: readonly (readonly (typeof FAMILIES)[number][])[] = [
  ['tags'],
  ['tags'],
  ['memory'],
  ['ams'],
  ['streams'],
  FAMILIES,
];

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
  const transport = random.pick(['rc', 'rc', 'ud'] as const);
  const isRough = random.chance(0.5);
  const cast = random.pick(CASTS);
  const count = random.pick([10, 40, random.below(120)]);
  const common = {
    workers,
    transport,
    lengthUs: random.pick([10, 500, 20_000]),
    aborts: random.pick([0, 0, 0.1, 0.4]),
  };
  // To ask every millisecond whether a peer lives that is silent for half a minute costs much and shows little.
  const disasters = random.chance(0.35)
    ? Array.from({ length: random.between(1, 2) }, () => planDisaster(random, workers))
    : [];
  const chancesOf = (family: (typeof FAMILIES)[number]): Chances => ({
    ...common,
    count: cast.includes(family) ? Math.ceil(count / cast.length) : 0,
  });
  return {
    seed,
    workers,
    transport,
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
    keepAliveMs: random.pick(disasters.length > 0 ? [50, 50, 20_000] : [1, 50, 20_000]),
    tags: planTags(random, chancesOf('tags')),
    memory: planMemory(random, chancesOf('memory')),
    ams: planAms(random, chancesOf('ams')),
    streams: planStreams(random, chancesOf('streams')),
    disasters,
    byAddressWithinUs: random.chance(0.4) ? random.pick([1, 30, 500]) : undefined,
    wireup: planWireup(random, { ...common, count: random.chance(0.3) ? random.below(20) : 0 }),
  };
}

export function describeUcp(plan: UcpPlan): string {
  const { seed, workers, transport, tags, memory, ams, streams, disasters, byAddressWithinUs, wireup } = plan;
  const { rndv, rndvScheme } = plan.thresholds;
  const what = disasters.map(({ kind, host, atUs }) => `${kind} of host ${host} at ${atUs} µs`).join(', ');
  const how = `rendezvous from ${String(rndv)} bytes on by ${String(rndvScheme)}`;
  const steps = `steps: ${tags.length} by tags, ${memory.steps.length} on memory, ${ams.length} active messages, ${streams.length} on streams, ${wireup.length} by address`;
  const met = byAddressWithinUs === undefined ? '' : ` that met by address within ${byAddressWithinUs} µs`;
  return `seed ${seed}: ${workers} workers by ${transport}${met}, ${steps}, ${how}${what && `, ${what}`}`;
}
