import { type LinkConditions, SeededRandom } from '../../../../device/link/index.js';
import type { Direction, StreamOptions } from '../../index.js';

/** What one seed stands for: streams between hosts, what both ends of each do, and what goes wrong. */

/** What an end does, one after the other, while it reads. */
export type Step =
  /** In pieces of so many bytes, each by a call of its own. */
  | { readonly does: 'write'; readonly bytes: number; readonly piece: number }
  | { readonly does: 'pause'; readonly us: number }
  /** Waits until the peer's adapter has all. */
  | { readonly does: 'drain' }
  /** Waits until nothing more comes. */
  | { readonly does: 'hear' }
  /** Waits until it has read all that the peer is to write. */
  | { readonly does: 'hear all' }
  /** Waits until the peer has written all that it is to write, though nobody reads it. */
  | { readonly does: 'outlast' }
  | { readonly does: 'shutdown'; readonly direction: Direction }
  | { readonly does: 'close'; readonly lingerMs: number };

export interface ReadingPlan {
  readonly how: 'read' | 'peek';
  /** Bytes that it takes at a time. */
  readonly piece: number;
  /** µs that it works on each. */
  readonly workUs: number;
  /** Takes nothing before all lines that do not stall have ended. */
  readonly stalls: boolean;
}

export interface SidePlan {
  readonly steps: readonly Step[];
  readonly reading: ReadingPlan;
  /** 0 for none. */
  readonly keepAliveSeconds: number;
}

/** A stream from one host to another. */
export interface LinePlan {
  /** Numbers of hosts. */
  readonly from: number;
  readonly to: number;
  readonly startUs: number;
  readonly options: StreamOptions;
  readonly client: SidePlan;
  readonly server: SidePlan;
  /** An end may go in the midst without a word, so that the other fails. */
  readonly isAbrupt: boolean;
  /** An end does something in the midst that it would do last, so that not all is written. */
  readonly isCutShort: boolean;
}

export type DisasterPlan =
  | { readonly kind: 'crash'; readonly host: number; readonly atUs: number; readonly forUs: number }
  | { readonly kind: 'pause'; readonly host: number; readonly atUs: number; readonly forUs: number }
  | { readonly kind: 'partition'; readonly host: number; readonly atUs: number; readonly forUs: number };

export interface RsocketPlan {
  readonly seed: number;
  readonly conditions: Partial<LinkConditions>;
  /** Whether the network may lose something, or bring it late. */
  readonly isRough: boolean;
  /** Of each host, how it listens. */
  readonly hosts: readonly StreamOptions[];
  readonly lines: readonly LinePlan[];
  readonly disasters: readonly DisasterPlan[];
}

const SECOND = 1e6;
/** One seed in so many sends more messages than there are numbers for them. */
const WRAPS_EVERY = 400;
const WRAPPING_MESSAGES = 66_500;
/** Reads and writes of one end, about, at the most. */
const MAX_CALLS = 600;
/** An end that takes its time to close gets all through, unless the peer is gone. */
const LONG_LINGER_MS = [5000, 20_000, Infinity] as const;
const SHORT_LINGER_MS = [0, 0, 0.05, 1, 50] as const;

function planOptions(random: SeededRandom): StreamOptions {
  return {
    sqSize: random.pick([16, 17, 40, 384]),
    rqSize: random.pick([16, 17, 40, 384]),
    inlineBytes: random.pick([0, 16, 64, 512]),
    sendBufferBytes: random.pick([4096, 4096, random.between(4096, 9000), 16_384, 131_072]),
    receiveBufferBytes: random.pick([4096, 4096, random.between(4096, 9000), 16_384, 131_072]),
    iomapSize: random.pick([0, 0, 3]),
  };
}

function anyLength(random: SeededRandom): number {
  const kind = random.fraction();
  if (kind < 0.1) return 1;
  if (kind < 0.5) return random.between(1, 300);
  if (kind < 0.8) return random.between(300, 9000);
  // About the borders of buffers and chunks.
  if (kind < 0.95) return random.pick([64, 512, 2048, 4096, 16_384]) + random.between(-2, 2);
  return random.between(9000, 200_000);
}

function planWrites(random: SeededRandom): Step[] {
  const steps: Step[] = [];
  const count = random.pick([0, 1, 3, random.below(12)]);
  for (let i = 0; i < count; i += 1) {
    const bytes = anyLength(random);
    const piece = random.chance(0.6) ? bytes : Math.max(random.between(1, 200), Math.ceil(bytes / MAX_CALLS));
    steps.push({ does: 'write', bytes, piece });
    if (random.chance(0.3)) steps.push({ does: 'pause', us: random.below(random.pick([10, 300, 5000])) });
    else if (random.chance(0.1)) steps.push({ does: 'drain' });
  }
  return steps;
}

export function totalOf(steps: readonly Step[]): number {
  return steps.reduce((total, step) => total + (step.does === 'write' ? step.bytes : 0), 0);
}

function planReading(random: SeededRandom, bytes: number): ReadingPlan {
  const workUs = random.pick([0, 0, 0, random.below(50), random.below(2000)]);
  const least = Math.ceil(bytes / MAX_CALLS);
  return {
    how: random.pick(['read', 'peek']),
    piece: Math.max(least, random.pick([1, random.between(1, 300), 4096, 65_536])),
    workUs,
    stalls: random.chance(0.08),
  };
}

type Steps = [client: Step[], server: Step[]];

const CLOSE: Step = { does: 'close', lingerMs: 5000 };
const HALF: Step = { does: 'shutdown', direction: 'write' };

/** How both ends agree to part, once all is written. The first is either. */
const PARTINGS: readonly (readonly [readonly Step[], readonly Step[]])[] = [
  [[HALF], [HALF]],
  [[HALF], [HALF]],
  [[HALF], [{ does: 'hear' }, HALF]],
  [[HALF], [{ does: 'hear' }, CLOSE]],
  [[HALF], [{ does: 'hear' }, { does: 'shutdown', direction: 'both' }]],
  [[HALF], [{ does: 'hear' }, { does: 'shutdown', direction: 'read' }, HALF]],
  [[{ does: 'hear all' }, CLOSE], [{ does: 'hear' }]],
  [[{ does: 'hear all' }, CLOSE], [HALF]],
  [[{ does: 'hear all' }, { does: 'shutdown', direction: 'read' }, HALF], [HALF]],
  [
    [{ does: 'hear all' }, CLOSE],
    [{ does: 'hear all' }, CLOSE],
  ],
  [
    [{ does: 'hear all' }, { does: 'shutdown', direction: 'both' }],
    [{ does: 'hear all' }, HALF],
  ],
];

function addParting(random: SeededRandom, [client, server]: Steps): void {
  const [first, second] = random.pick(PARTINGS);
  const isClientFirst = random.chance(0.5);
  client.push(...(isClientFirst ? first : second));
  server.push(...(isClientFirst ? second : first));
}

/** Has an end do something in the midst that it would do last. @returns whether the other may fail of it */
function addSurprise(random: SeededRandom, steps: Step[]): boolean {
  const at = random.between(0, steps.length);
  const kind = random.pick(['short', 'short', 'long', 'both', 'read', 'write'] as const);
  if (kind === 'short') steps.splice(at, 0, { does: 'close', lingerMs: random.pick(SHORT_LINGER_MS) });
  else if (kind === 'long') steps.splice(at, 0, { does: 'close', lingerMs: random.pick(LONG_LINGER_MS) });
  else if (kind === 'read') steps.splice(at, 0, { does: 'shutdown', direction: kind }, { does: 'outlast' });
  else steps.splice(at, 0, { does: 'shutdown', direction: kind });
  return kind === 'short';
}

function planLine(random: SeededRandom, hosts: number): LinePlan {
  const from = random.below(hosts);
  const to = (from + random.between(1, hosts - 1)) % hosts;
  const steps: Steps = [planWrites(random), planWrites(random)];
  const [toServer, toClient] = steps.map(totalOf);
  addParting(random, steps);
  const isCutShort = random.chance(0.25);
  const isAbrupt = isCutShort && addSurprise(random, random.pick(steps));
  const side = (own: readonly Step[], incoming: number): SidePlan => ({
    steps: own,
    reading: planReading(random, incoming),
    keepAliveSeconds: random.chance(0.15) ? random.between(1, 20) : 0,
  });
  return {
    from,
    to,
    startUs: random.pick([0, random.below(1000), random.below(50_000)]),
    options: planOptions(random),
    client: side(steps[0], toClient),
    server: side(steps[1], toServer),
    isAbrupt,
    isCutShort,
  };
}

/** Messages of one byte, more than there are numbers. */
function planWrap(random: SeededRandom): LinePlan {
  const reading: ReadingPlan = { how: 'read', piece: 4096, workUs: 0, stalls: false };
  const write: Step = { does: 'write', bytes: WRAPPING_MESSAGES, piece: 1 };
  return {
    from: 0,
    to: 1,
    startUs: 0,
    options: { ...planOptions(random), sqSize: 384, rqSize: 384 },
    client: { steps: [write, HALF], reading, keepAliveSeconds: 0 },
    server: { steps: [{ does: 'hear' }, { does: 'write', bytes: 1000, piece: 7 }, HALF], reading, keepAliveSeconds: 0 },
    isAbrupt: false,
    isCutShort: false,
  };
}

function planDisaster(random: SeededRandom, hosts: number): DisasterPlan {
  const kind = random.pick(['crash', 'pause', 'partition'] as const);
  const atUs = random.below(random.pick([2000, 30_000]));
  const forUs = random.pick([100, 5000, SECOND, 60 * SECOND]);
  return { kind, host: random.below(hosts), atUs, forUs };
}

export function planRsocket(seed: number): RsocketPlan {
  const random = new SeededRandom(seed);
  const wraps = seed % WRAPS_EVERY === 0;
  const hosts = wraps ? 2 : random.between(2, 4);
  const isRough = !wraps && random.chance(0.5);
  const lines = random.pick([1, 1, 2, random.between(1, 6)]);
  return {
    seed,
    isRough,
    conditions: {
      delayUs: random.pick([1, 5, 50]),
      ...(isRough && {
        jitterUs: random.below(20),
        loss: random.pick([0, 0.005, 0.02]),
        duplication: random.pick([0, 0.02]),
        reordering: random.pick([0, 0.03]),
        corruption: random.pick([0, 0.002]),
      }),
    },
    hosts: Array.from({ length: hosts }, () => planOptions(random)),
    lines: wraps ? [planWrap(random)] : Array.from({ length: lines }, () => planLine(random, hosts)),
    disasters:
      !wraps && random.chance(0.3)
        ? Array.from({ length: random.between(1, 2) }, () => planDisaster(random, hosts))
        : [],
  };
}

function describeSide({ steps, reading }: SidePlan): string {
  const words = steps.map((step) => {
    switch (step.does) {
      case 'write':
        return step.piece < step.bytes ? `write ${step.bytes} by ${step.piece}` : `write ${step.bytes}`;
      case 'shutdown':
        return `shutdown ${step.direction}`;
      case 'close':
        return `close ${step.lingerMs} ms`;
      case 'pause':
        return `pause ${step.us} µs`;
      default:
        return step.does;
    }
  });
  const { how, piece, workUs, stalls } = reading;
  return `${words.join(', ')}; ${how} by ${piece}${workUs > 0 ? `, ${workUs} µs each` : ''}${stalls ? ', stalls' : ''}`;
}

export function describeRsocket({ seed, hosts, lines, disasters }: RsocketPlan): string {
  const what = disasters.map(({ kind, host, atUs, forUs }) => `\n  ${kind} of host ${host} at ${atUs} µs, ${forUs} µs`);
  const each = lines.map(
    ({ from, to, startUs, client, server }, i) =>
      `\n  stream ${i}, host ${from} to ${to} at ${startUs} µs\n    client: ${describeSide(client)}\n    server: ${describeSide(server)}`,
  );
  return `seed ${seed}: ${hosts.length} hosts${each.join('')}${what.join('')}`;
}
