import { type LinkConditions, SeededRandom } from '../../../../device/link/index.js';

/** What one seed stands for: clients of one server, what both sides of each connection say, and what goes wrong. */

/** A message, or when it is sent. */
export interface SendPlan {
  readonly bytes: number;
  /** µs after the one before was handed over. */
  readonly afterUs: number;
  /** µs until the program wants it back; Infinity is never. */
  readonly abortAfterUs: number;
  /** The same by a deadline of the call. */
  readonly byDeadline: boolean;
  /** Whether the program waits for it before it goes on. */
  readonly awaited: boolean;
}

export interface TakingPlan {
  /** `stalls` takes nothing before all lines that do not stall have ended. */
  readonly how: 'receive' | 'loop' | 'leases' | 'stalls';
  /** µs that it works on each message. */
  readonly workUs: number;
}

export interface SidePlan {
  readonly sends: readonly SendPlan[];
  readonly taking: TakingPlan;
}

/** A use of the peer's memory. */
export interface AccessPlan {
  readonly kind: 'write' | 'read' | 'add' | 'swap';
  /** Of the part of the region that is the client's, as fractions of 2^32. */
  readonly where: number;
  readonly bytes: number;
  /** Of the program's memory, whether it can be registered. */
  readonly registers: boolean;
  readonly afterUs: number;
  readonly abortAfterUs: number;
}

export interface LinePlan {
  /** Number of the host, from 1 on. */
  readonly host: number;
  readonly startUs: number;
  readonly client: SidePlan;
  readonly server: SidePlan;
  readonly accesses: readonly AccessPlan[];
  /** `agreed` ends once both have said all; the others in the midst, `afterUs` after the beginning. */
  readonly ending: 'agreed' | 'client closes' | 'server closes' | 'client disposes' | 'server throws';
  readonly endUs: number;
}

export type DisasterPlan =
  | { readonly kind: 'crash'; readonly host: number; readonly atUs: number; readonly backUs: number }
  | { readonly kind: 'pause'; readonly host: number; readonly atUs: number; readonly forUs: number }
  /** The server's program stops, in so much time at most, and begins anew. */
  | { readonly kind: 'stop'; readonly host: 0; readonly atUs: number; readonly forUs: number }
  | { readonly kind: 'partition'; readonly host: number; readonly atUs: number; readonly forUs: number };

export interface MessagesPlan {
  readonly seed: number;
  readonly hosts: number;
  readonly conditions: Partial<LinkConditions>;
  /** Buffers for what comes in, of either side: few, so that credits run out. */
  readonly window: number;
  readonly maxMessageBytes: number;
  /** How long peers may be silent. */
  readonly keepAliveMs: number;
  readonly lines: readonly LinePlan[];
  readonly disasters: readonly DisasterPlan[];
}

const SECOND = 1e6;
const MAX_MESSAGE = 64 * 1024;
/** Of the server's region, to each line. */
export const PART_BYTES = 96 * 1024;

function anyLength(random: SeededRandom, most: number): number {
  const kind = random.fraction();
  if (kind < 0.1) return 0;
  if (kind < 0.6) return random.between(1, 300);
  if (kind < 0.85) return random.between(300, 9000);
  // About the borders of what buffers hold.
  if (kind < 0.93) return Math.min(most, random.pick([256, 4096, 8192, 16384, 65536]) + random.between(-2, 2));
  return random.between(1, most);
}

function abortTime(random: SeededRandom, probability: number): number {
  if (!random.chance(probability)) return Infinity;
  return random.pick([0, random.below(5), random.below(60), random.below(3000)]);
}

function planSends(random: SeededRandom, maxMessageBytes: number): SendPlan[] {
  const eager = random.chance(0.3);
  const aborts = random.pick([0, 0, 0.1, 0.4]);
  return Array.from({ length: random.pick([0, 3, 12, random.below(40)]) }, () => ({
    bytes: anyLength(random, maxMessageBytes),
    afterUs: random.chance(0.6) ? 0 : random.below(random.pick([10, 200, 5000])),
    abortAfterUs: abortTime(random, aborts),
    byDeadline: random.chance(0.3),
    awaited: !eager && random.chance(0.4),
  }));
}

function planSide(random: SeededRandom, maxMessageBytes: number, mayStall: boolean): SidePlan {
  const how = mayStall && random.chance(0.3) ? 'stalls' : random.pick(['receive', 'loop', 'leases'] as const);
  const workUs = random.pick([0, 0, random.below(100), random.below(5000)]);
  return { sends: planSends(random, maxMessageBytes), taking: { how, workUs } };
}

function planAccesses(random: SeededRandom): AccessPlan[] {
  return Array.from({ length: random.pick([0, 2, random.below(12)]) }, () => ({
    kind: random.pick(['write', 'read', 'read', 'add', 'swap'] as const),
    where: random.u32(),
    bytes: random.chance(0.5) ? random.between(1, 512) : random.between(1, PART_BYTES),
    registers: random.chance(0.7),
    afterUs: random.chance(0.6) ? 0 : random.below(500),
    abortAfterUs: abortTime(random, 0.25),
  }));
}

function planLine(random: SeededRandom, hosts: number, maxMessageBytes: number): LinePlan {
  return {
    host: random.between(1, hosts),
    startUs: random.pick([0, random.below(1000), random.below(50_000)]),
    client: planSide(random, maxMessageBytes, false),
    server: planSide(random, maxMessageBytes, true),
    accesses: planAccesses(random),
    ending: random.chance(0.75)
      ? 'agreed'
      : random.pick(['client closes', 'server closes', 'client disposes', 'server throws'] as const),
    endUs: random.pick([0, random.below(100), random.below(20_000)]),
  };
}

function planDisaster(random: SeededRandom, hosts: number): DisasterPlan {
  const host = random.between(0, hosts);
  const atUs = random.below(30_000);
  const kind = random.pick(['crash', 'pause', 'partition', 'stop'] as const);
  if (kind === 'stop') return { kind, host: 0, atUs, forUs: random.pick([0, 100, 5000, SECOND]) };
  if (kind === 'crash') return { kind, host, atUs, backUs: random.between(1, 100_000) };
  return { kind, host, atUs, forUs: random.pick([100, 5000, SECOND, 60 * SECOND]) };
}

export function planMessages(seed: number): MessagesPlan {
  const random = new SeededRandom(seed);
  const hosts = random.between(1, 3);
  const isRough = random.chance(0.5);
  const maxMessageBytes = random.pick([MAX_MESSAGE, MAX_MESSAGE, 16 * 1024]);
  return {
    seed,
    hosts,
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
    window: random.pick([4, 5, 9, 64]),
    maxMessageBytes,
    keepAliveMs: random.pick([5, 1000, 30_000, Infinity]),
    lines: Array.from({ length: random.pick([1, 2, 5, random.between(1, 12)]) }, () =>
      planLine(random, hosts, maxMessageBytes),
    ),
    disasters: random.chance(0.35)
      ? Array.from({ length: random.between(1, 2) }, () => planDisaster(random, hosts))
      : [],
  };
}

export function describeMessages({ seed, hosts, lines, disasters }: MessagesPlan): string {
  const stalled = lines.filter(({ server }) => server.taking.how === 'stalls').length;
  const what = disasters.map(({ kind, host, atUs }) => `${kind} of host ${host} at ${atUs} µs`).join(', ');
  return `seed ${seed}: ${hosts} clients' hosts, ${lines.length} connections, ${stalled} stalled${what && `, ${what}`}`;
}
