import { type LinkConditions, SeededRandom } from '../../../../device/link/index.js';
import type { KvMode, TransportName } from '../../index.js';

/** What one seed stands for: programs that use a store, and what goes wrong. */

export interface CallPlan {
  readonly kind:
    | 'entry'
    | 'has'
    | 'ttl'
    | 'touch'
    | 'set'
    | 'add'
    | 'cas'
    | 'delete'
    | 'incr'
    | 'explain'
    | 'getMany'
    | 'setMany'
    | 'deleteMany'
    | 'scan';
  readonly key: string;
  /** Of calls about many; the same one may be there twice. */
  readonly keys: readonly string[];
  /** Of a scan: keys of a page; 0 as many as fit. */
  readonly count: number;
  readonly by: bigint;
  /** Of the value; one that is longer than a number is none. */
  readonly bytes: number;
  /** How long what is set, or touched, is to live; 0 for ever. */
  readonly ttlMs: number;
  /** µs after the one before was begun. */
  readonly afterUs: number;
  /** Whether the program waits for it before it goes on. */
  readonly awaited: boolean;
  /** Milliseconds that the program waits; Infinity for ever. */
  readonly timeoutMs: number;
}

export interface ClientPlan {
  /** Number of the host, from 1 on. */
  readonly host: number;
  readonly window: number;
  readonly transport: TransportName;
  /** Whether it reads values in the server's memory. */
  readonly oneSided: boolean;
  readonly startUs: number;
  readonly calls: readonly CallPlan[];
}

export type DisasterPlan =
  | { readonly kind: 'crash'; readonly host: number; readonly atUs: number; readonly forUs: number }
  | { readonly kind: 'pause'; readonly host: number; readonly atUs: number; readonly forUs: number }
  | { readonly kind: 'partition'; readonly host: number; readonly atUs: number; readonly forUs: number }
  /** The server's program ends, and begins anew. */
  | { readonly kind: 'restart'; readonly host: 0; readonly atUs: number; readonly forUs: number };

export interface StorePlan {
  readonly mode: KvMode;
  readonly memoryBytes: number;
  readonly buckets: number | undefined;
  /** How many hashes all keys have together; 0: as many as there are. */
  readonly hashes: number;
  /** Versions begin after it. */
  readonly lastVersion: bigint;
}

export interface KvPlan {
  readonly seed: number;
  readonly store: StorePlan;
  readonly hosts: number;
  readonly conditions: Partial<LinkConditions>;
  readonly clients: readonly ClientPlan[];
  readonly disasters: readonly DisasterPlan[];
}

const SECOND = 1e6;
const TRANSPORTS: readonly TransportName[] = ['rc', 'uc', 'ud'];
const CALLS = [
  ...(['entry', 'entry', 'has', 'set', 'set', 'add', 'cas', 'delete', 'incr', 'incr', 'ttl', 'touch'] as const),
  ...(['entry', 'set', 'incr', 'explain', 'getMany', 'setMany', 'deleteMany', 'scan'] as const),
] as const;
const ROOMY_BYTES = 1 << 20;
/** Its halves: versions are written in two. */
const HALF = 2n ** 32n;

/** What the calls of a run have in common. */
interface Habits {
  readonly keys: number;
  /** How many of them give up after some time, or give what they set a time to live. */
  readonly impatience: number;
  readonly mortality: number;
  readonly pauseUs: number;
  /** How many set a long value, and how long those are. */
  readonly longer: { readonly chance: number; readonly bytes: readonly number[] };
}

function planCall(random: SeededRandom, { keys, impatience, mortality, pauseUs, longer }: Habits): CallPlan {
  const key = (): string => `key ${random.below(keys)}`;
  return {
    kind: random.pick(CALLS),
    key: key(),
    keys: Array.from({ length: random.between(1, 4) }, key),
    count: random.pick([0, 1, 3]),
    by: BigInt(random.between(-3, 5)),
    bytes: random.chance(longer.chance) ? random.between(20, random.pick(longer.bytes)) : 0,
    ttlMs: random.chance(mortality) ? random.pick([1, 2, 20, 1000, 5000]) : 0,
    afterUs: random.chance(0.5) ? 0 : random.below(pauseUs),
    awaited: random.chance(0.5),
    timeoutMs: random.chance(impatience) ? random.pick([0, 0.02, 1, 700]) : Infinity,
  };
}

function planDisaster(random: SeededRandom, hosts: number, lengthUs: number): DisasterPlan {
  const kind = random.pick(['crash', 'pause', 'partition', 'restart'] as const);
  const atUs = random.below(lengthUs);
  const forUs = random.pick([100, 20_000, SECOND, 5 * SECOND, 7 * SECOND, 9 * SECOND, 20 * SECOND]);
  if (kind === 'restart') return { kind, host: 0, atUs, forUs };
  return { kind, host: random.below(hosts + 1), atUs, forUs };
}

function planStore(random: SeededRandom): StorePlan {
  return {
    mode: random.pick(['store', 'store', 'cache']),
    memoryBytes: random.pick([ROOMY_BYTES, ROOMY_BYTES, 4096, 8192]),
    buckets: random.pick([undefined, 1, 4]),
    hashes: random.pick([0, 0, 1, 3]),
    lastVersion: random.pick([0n, HALF - 5n, (1n << 63n) - 9n]),
  };
}

export function planKv(seed: number): KvPlan {
  const random = new SeededRandom(seed);
  const hosts = random.between(1, 3);
  const store = planStore(random);
  const isTight = store.memoryBytes < ROOMY_BYTES;
  const keys = isTight ? random.pick([2, 6, 30]) : random.pick([1, 2, 6]);
  const pauseUs = random.pick([20, 2000, 200_000, 2_000_000]);
  const impatience = random.pick([0, 0, 0.1]);
  const longer = isTight ? { chance: 0.6, bytes: [100, 700, 2000] } : { chance: 0.1, bytes: [3000, 20_000] };
  const habits = { keys, impatience, mortality: random.pick([0, 0.2, 0.5]), pauseUs, longer };
  const isRough = random.chance(0.6);
  // By chance of its own: what else a seed stands for stays.
  const reading = new SeededRandom(seed ^ 0x0ead);
  const clients = Array.from({ length: random.between(1, 5) }, () => ({
    host: random.between(1, hosts),
    window: random.pick([1, 2, 16]),
    transport: random.pick(TRANSPORTS),
    // Of other hashes readers know nothing.
    oneSided: store.hashes === 0 && reading.chance(0.5),
    startUs: random.below(1000),
    calls: Array.from({ length: random.between(1, 30) }, () => planCall(random, habits)),
  }));
  return {
    seed,
    store,
    hosts,
    conditions: {
      delayUs: random.pick([1, 5, 50]),
      ...(isRough && {
        jitterUs: random.below(20),
        loss: random.pick([0, 0.01, 0.05]),
        duplication: random.pick([0, 0.02]),
        reordering: random.pick([0, 0.05]),
        corruption: random.pick([0, 0.005]),
      }),
    },
    clients,
    disasters: random.chance(0.5)
      ? Array.from({ length: random.between(1, 3) }, () => planDisaster(random, hosts, 20 * pauseUs))
      : [],
  };
}

export function describeKv({ seed, hosts, clients, disasters, store }: KvPlan): string {
  const what = disasters.map(({ kind, host, atUs }) => `${kind} of host ${host} at ${atUs} µs`).join(', ');
  const ways = clients.map(({ transport, oneSided }) => (oneSided ? `${transport} and reads` : transport)).join(', ');
  const where = `a ${store.mode} of ${store.memoryBytes} bytes`;
  return `seed ${seed}: ${where}, ${hosts} clients' hosts, ${clients.length} clients (${ways})${what && `, ${what}`}`;
}
