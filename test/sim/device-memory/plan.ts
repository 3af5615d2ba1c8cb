import { Mtu } from '../../../src/device/ibta/index.js';
import { type LinkConditions, SeededRandom } from '../../../src/device/link/index.js';
import type { Misfortune } from '../../support/fake-gpu-queue.js';

/** What one seed stands for: programs on two hosts whose memory is that of devices, and what the devices do to them. */

export const KINDS = ['WRITE', 'WRITE_IMM', 'READ', 'SEND', 'FETCH_ADD', 'COMPARE_SWAP'] as const;
export type Kind = (typeof KINDS)[number];

export const INTERVENTIONS = ['deregister', 'reregister', 'error', 'reset', 'destroy'] as const;
export type Intervention = (typeof INTERVENTIONS)[number];

/** One queue pair of each host and their memory, from when they are made to when they are gone. */
export interface LifePlan {
  readonly requests: number;
  readonly intervention: Intervention | undefined;
  readonly where: 'local' | 'remote';
  /** µs after its beginning. */
  readonly atUs: number;
}

/** A program that makes requests, life after life. */
export interface LinePlan {
  /** Number of the host that makes requests, 0 or 1. */
  readonly from: number;
  readonly memory: 'local' | 'remote' | 'both';
  readonly kinds: readonly Kind[];
  readonly slots: number;
  readonly slotBytes: number;
  /** Requests under way at once. */
  readonly depth: number;
  readonly pathMtu: Mtu;
  readonly paceUs: number;
  readonly lives: readonly LifePlan[];
}

export interface DevicePlan {
  /** A batch takes up to so many µs. */
  readonly delayUs: number;
  readonly tells: boolean;
  /** Pieces of staging memory that there may be. */
  readonly maxSlots: number;
  /** How probable each misfortune is, wherever it can happen. */
  readonly chances: Readonly<Partial<Record<Misfortune, number>>>;
}

export interface DeviceMemoryPlan {
  readonly seed: number;
  readonly conditions: Partial<LinkConditions>;
  /** NICs have turns at multiples of this only; 0 is at once. */
  readonly turnEveryUs: number;
  /** One for each host. */
  readonly devices: readonly [DevicePlan, DevicePlan];
  readonly lines: readonly LinePlan[];
}

/** Lengths about the borders of a packet, of a buffer of the NIC, and of what is read ahead. */
const SLOT_BYTES = [8, 64, 1000, 4096, 5000, 20_000, 131_072, 140_008];
/** Requests of one life move so many bytes at most. */
const LIFE_BYTES = 400_000;

function planDevice(random: SeededRandom): DevicePlan {
  const ill = random.chance(0.5);
  const chance = (most: number): number => (ill && random.chance(0.4) ? most * random.fraction() : 0);
  return {
    delayUs: random.pick([0, 1, 10, 10, 100, 1000]),
    tells: random.chance(0.6),
    // Few, or nobody would ever wait for one.
    maxSlots: random.pick([1, 2, 3, 8, 64]),
    chances: {
      call: chance(0.02),
      result: chance(0.2),
      submit: chance(0.03),
      command: chance(0.05),
      staging: chance(0.1),
      queue: chance(0.1),
      // Only what has failed is drained.
      drain: ill && random.chance(0.4) ? random.fraction() : 0,
    },
  };
}

function planLife(random: SeededRandom, most: number): LifePlan {
  return {
    requests: random.between(1, most),
    intervention: random.chance(0.5) ? random.pick(INTERVENTIONS) : undefined,
    where: random.pick(['local', 'remote'] as const),
    atUs: random.below(random.pick([20, 200, 2000])),
  };
}

function planLine(random: SeededRandom): LinePlan {
  const slotBytes = random.pick(SLOT_BYTES);
  const most = Math.max(2, Math.min(30, Math.floor(LIFE_BYTES / slotBytes)));
  const slots = random.between(1, Math.min(8, most));
  return {
    from: random.below(2),
    memory: random.pick(['local', 'remote', 'both', 'both'] as const),
    kinds: random.chance(0.5) ? KINDS : [random.pick(KINDS), random.pick(KINDS)],
    slots,
    slotBytes,
    depth: random.between(1, slots),
    pathMtu: random.pick([Mtu.MTU_256, Mtu.MTU_1024, Mtu.MTU_4096]),
    paceUs: random.pick([1, 10, 100]),
    lives: Array.from({ length: random.between(1, 3) }, () => planLife(random, most)),
  };
}

export function planDeviceMemory(seed: number): DeviceMemoryPlan {
  const random = new SeededRandom(seed ^ 0x6e5b);
  const rough = (most: number): number => (random.chance(0.4) ? most * random.fraction() : 0);
  return {
    seed,
    conditions: {
      delayUs: random.pick([1, 5, 20]),
      jitterUs: random.chance(0.5) ? 20 * random.fraction() : 0,
      loss: rough(0.03),
      duplication: rough(0.03),
      reordering: rough(0.03),
      reorderDelayUs: random.pick([5, 30]),
    },
    turnEveryUs: random.pick([0, 0, 10, 50]),
    devices: [planDevice(random), planDevice(random)],
    lines: Array.from({ length: random.pick([1, 2, 3, 5, 8]) }, () => planLine(random)),
  };
}

export function describeDeviceMemory({ seed, devices, lines, conditions }: DeviceMemoryPlan): string {
  const percent = (value = 0): string => `${(100 * value).toFixed(1)} %`;
  const device = ({ delayUs, tells, chances }: DevicePlan): string =>
    `up to ${delayUs} us, ${tells ? 'tells' : 'is asked'}` +
    Object.entries(chances)
      .filter(([, chance]) => chance > 0)
      .map(([where, chance]) => `, fails at ${where} ${percent(chance)}`)
      .join('');
  const line = ({ memory, slotBytes, lives }: LinePlan): string => `${memory} ${slotBytes} x${lives.length}`;
  return (
    `seed ${seed}: devices: ${devices.map(device).join('; ')}; lines: ${lines.map(line).join(', ')}; ` +
    `loss ${percent(conditions.loss)}, duplication ${percent(conditions.duplication)}, reordering ${percent(conditions.reordering)}`
  );
}
