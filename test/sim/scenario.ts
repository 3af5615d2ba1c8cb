import { Mtu, mtuBytes } from '../../src/device/ibta/index.js';
import { type LinkConditions, SeededRandom } from '../../src/device/link/index.js';
import { type Forbidden, type Transport, TRANSPORTS } from './transport.js';

/** What one seed stands for: who is connected to whom, how, over what kind of network, and what goes wrong. */

/** One direction of a connection: what its requester is like. */
export interface FlowPlan {
  readonly requests: number;
  readonly maxSendWr: number;
  readonly maxSendSge: number;
  readonly maxInlineData: number;
  readonly maxRdAtomic: number;
  readonly sqSigAll: boolean;
  readonly timeout: number;
  readonly sqPsn: number;
  /** Of the receive queue that this flow's messages go to. */
  readonly maxRecvWr: number;
  readonly maxRecvSge: number;
  readonly minRnrTimer: number;
  /** What the peer's queue pair does not let it do. */
  readonly forbidden: Forbidden | undefined;
}

export interface ConnectionPlan {
  readonly transport: Transport;
  /** Numbers of the two hosts; a host may talk to itself. */
  readonly hosts: readonly [number, number];
  readonly pathMtu: Mtu;
  readonly flows: readonly [FlowPlan, FlowPlan];
  /** When the second side goes from RTR to RTS. */
  readonly lateRtsUs: number;
  /** When the first side goes to SQD for a while; never is Infinity. */
  readonly drainUs: number;
  /** 7 is for ever. */
  readonly rnrRetry: number;
}

/**
 * How a run ends: well; with a host that dies; with two hosts cut off from each other for longer than any retry lasts;
 * with requests that are wrong and must be refused; with programs of one connection that post no more receive requests, for
 * which their peers do not wait for ever; or in a storm, so rough that retries may run out.
 */
export type Ending = 'well' | 'death' | 'partition' | 'refusal' | 'unready' | 'storm';

export interface Scenario {
  readonly seed: number;
  readonly hosts: number;
  readonly ipv6: boolean;
  readonly hideIpId: boolean;
  readonly conditions: Partial<LinkConditions>;
  /** When loss, duplication, reordering and corruption stop. */
  readonly faultsEndUs: number;
  readonly connections: readonly ConnectionPlan[];
  /** Bytes of the memory that each flow works on. */
  readonly areaBytes: number;
  /** Whether programs sleep until a completion channel wakes them, instead of polling. */
  readonly eventDriven: boolean;
  /** Whether the QPs of a host share one CQ. */
  readonly sharedCq: boolean;
  /** A host gives its NIC a turn at multiples of this only, so that packets come in bunches; 0 is at once. */
  readonly turnEveryUs: number;
  /** IP bytes that a host's inbox holds. */
  readonly inboxLimitBytes: number;
  /** With more waiting there, what is taken bears a mark. */
  readonly inboxMarkBytes: number;
  /** Mean time between two looks of a program at its queues. */
  readonly paceUs: number;
  /** Whether regions may lie in memory that is reached by copies, some of which finish later. */
  readonly foreignMemory: boolean;
  readonly ending: Ending;
  /** When death, partition or not being ready begins. */
  readonly endingUs: number;
}

const MTUS = [Mtu.MTU_256, Mtu.MTU_512, Mtu.MTU_1024, Mtu.MTU_2048, Mtu.MTU_4096];
const ENDINGS: readonly Ending[] = [
  ...new Array<Ending>(6).fill('well'),
  ...new Array<Ending>(3).fill('refusal'),
  'death',
  'partition',
  'unready',
  'storm',
];
/** By so much a storm is worse than other bad weather: a quarter of all packets lost, a third out of order. */
const STORM_ROUGHNESS = 6;
/** The part of the runs that have other transports than RC. */
const MIXED = 0.6;
/**
 * The part of the runs in which nothing is lost: what unreliable services lose then is lost for a reason of their own, and nothing
 * that is reliable is sent again.
 */
const CALM = 0.2;
const NO_FAULTS = { loss: 0, duplication: 0, reordering: 0, corruption: 0, queueLimitBytes: Infinity };
const TRANSPORT_SEED = 0x7a5b0a7;
/** The part of the runs with switches that mark what waits in a long queue, and hosts that mark what waits in their inbox. */
const MARKED = 0.4;
const MARK_SEED = 0x3a2ced;
/** The part of the runs in which regions lie in foreign memory. */
const FOREIGN = 0.3;
/** What a copy to such memory takes at most: less than a packet on any network here. */
export const LATE_US = 2;
const MAX_SGE = 6;
const FOREIGN_SEED = 0xf0e16;
const FORBIDDEN: readonly Forbidden[] = ['WRITE', 'READ', 'ATOMIC'];
/** The part of the flows that may not do everything. */
const RESTRICTED = 0.3;
/** Packets that a requester keeps unacknowledged at most. */
const WINDOW_PACKETS = 128;
const WINDOW_BYTES = 256 * 1024;
export const RNR_FOR_EVER = 7;

function planConditions(random: SeededRandom, hideIpId: boolean, roughness: number): LinkConditions {
  const rough = (most: number): number => (random.chance(0.6) ? random.fraction() * most * roughness : 0);
  const slow = random.chance(0.3);
  return {
    delayUs: random.pick([1, 5, 5, 20, 50]),
    jitterUs: random.chance(0.6) ? 30 * random.fraction() : 0,
    bandwidthBytesPerUs: slow ? random.between(100, 2000) : Infinity,
    queueLimitBytes: slow && random.chance(0.5) ? random.between(40_000, 200_000) : Infinity,
    markAboveBytes: Infinity,
    mtuBytes: 65535,
    loss: rough(0.04),
    lossBurstPackets: 0,
    duplication: rough(0.05),
    reordering: rough(0.05),
    // A check of 16 bits, which is all that a hidden identification leaves, would let some damage through.
    corruption: hideIpId ? 0 : rough(0.02),
    reorderDelayUs: random.pick([5, 30, 100]),
    partitioned: false,
  };
}

/**
 * The least timeout exponent under which a packet that is merely slow is not taken for lost.
 *
 * @param copiesUs how long the pieces of a message take that are copied one after another
 */
function leastTimeout(conditions: LinkConditions, flows: number, turnEveryUs: number, copiesUs: number): number {
  const { delayUs, jitterUs, reorderDelayUs, bandwidthBytesPerUs } = conditions;
  // Requests of one direction and responses of the other wait behind each other on a slow link.
  const queuedUs = (2 * flows * WINDOW_BYTES) / bandwidthBytesPerUs;
  const roundTripUs = 2 * (delayUs + jitterUs + reorderDelayUs + queuedUs + turnEveryUs + copiesUs);
  return Math.max(4, Math.ceil(Math.log2((2 * roundTripUs) / 4.096)));
}

function planFlow(random: SeededRandom, timeout: number): FlowPlan {
  return {
    requests: random.chance(0.1) ? random.between(50, 120) : random.between(1, 24),
    maxSendWr: random.pick([1, 2, 4, 8, 16, 64]),
    maxSendSge: random.between(1, MAX_SGE),
    maxInlineData: random.pick([0, 16, 64, 256]),
    maxRdAtomic: random.pick([1, 1, 2, 3, 4, 8, 16, 128]),
    sqSigAll: random.chance(0.3),
    timeout: timeout + random.between(0, 2),
    sqPsn: random.chance(0.4) ? (0xffffff - random.below(60)) & 0xffffff : random.below(2 ** 24),
    maxRecvWr: random.pick([1, 2, 4, 16]),
    maxRecvSge: random.between(1, MAX_SGE),
    minRnrTimer: random.between(1, 14),
    forbidden: random.chance(RESTRICTED) ? random.pick(FORBIDDEN) : undefined,
  };
}

export function planScenario(seed: number): Scenario {
  const random = new SeededRandom(seed);
  const hosts = random.between(2, 4);
  const hideIpId = random.chance(0.2);
  const ending = random.pick<Ending>(ENDINGS);
  const conditions = planConditions(random, hideIpId, ending === 'storm' ? STORM_ROUGHNESS : 1);
  const connections = random.pick([1, 1, 2, 2, 3, 4, 6]);
  const turnEveryUs = random.pick([0, 0, 0, 10, 50, 300]);
  const foreignMemory = new SeededRandom(seed ^ FOREIGN_SEED).chance(FOREIGN);
  const copiesUs = foreignMemory ? MAX_SGE * (turnEveryUs + LATE_US) : 0;
  const timeout = leastTimeout(conditions, connections, turnEveryUs, copiesUs);
  // Numbers of their own, so that the rest of a run does not depend on what transports there are.
  const choice = new SeededRandom(seed ^ TRANSPORT_SEED);
  const marks = new SeededRandom(seed ^ MARK_SEED);
  const markAboveBytes = marks.chance(MARKED) ? marks.between(500, 20_000) : Infinity;
  const mixed = choice.chance(MIXED);
  const calm = choice.chance(CALM);
  const pickTransport = (): Transport => (mixed ? choice.pick(TRANSPORTS) : 'RC');
  return {
    seed,
    hosts,
    ipv6: random.chance(0.3),
    hideIpId,
    conditions: { ...conditions, ...(calm ? NO_FAULTS : {}), markAboveBytes },
    faultsEndUs: random.between(500, 20_000),
    connections: Array.from({ length: connections }, (_, i) => {
      const transport = pickTransport();
      const impatient = ending === 'unready' && i === 0 && transport === 'RC';
      return planConnection(random, hosts, timeout, transport, impatient ? random.below(4) : RNR_FOR_EVER);
    }),
    areaBytes: random.pick([1024, 4096, 4096, 8192, 8192, 16_384, WINDOW_PACKETS * 600]),
    eventDriven: random.chance(0.3),
    sharedCq: random.chance(0.4),
    turnEveryUs,
    // What an ordinary process is granted (rmem_max doubled), or less.
    inboxLimitBytes: random.chance(0.2) && !calm ? random.pick([30_000, 100_000, 425_984]) : Infinity,
    inboxMarkBytes: markAboveBytes,
    paceUs: random.pick([3, 20, 100, 400]),
    foreignMemory,
    ending,
    endingUs: random.between(50, 3000),
  };
}

function planConnection(
  random: SeededRandom,
  hosts: number,
  timeout: number,
  transport: Transport,
  patience: number,
): ConnectionPlan {
  const first = random.below(hosts);
  const second = random.chance(0.05) ? first : (first + random.between(1, hosts - 1)) % hosts;
  return {
    transport,
    hosts: [first, second],
    pathMtu: random.pick(MTUS),
    flows: [planFlow(random, timeout), planFlow(random, timeout)],
    lateRtsUs: random.chance(0.2) ? random.between(1, 500) : 0,
    drainUs: random.chance(0.15) ? random.between(1, 1500) : Infinity,
    rnrRetry: patience,
  };
}

export function describeScenario({
  seed,
  hosts,
  connections,
  conditions,
  ending,
  endingUs,
  ...rest
}: Scenario): string {
  const percent = (value = 0): string => `${(100 * value).toFixed(1)} %`;
  const pairs = connections.map(({ transport, pathMtu }) => `${transport} ${mtuBytes(pathMtu)}`).join(', ');
  return [
    `seed ${String(seed)}: ${String(hosts)} hosts over ${rest.ipv6 ? 'IPv6' : 'IPv4'}, path MTUs of ${pairs}`,
    `delay ${String(conditions.delayUs)} + ${(conditions.jitterUs ?? 0).toFixed(1)} us`,
    `loss ${percent(conditions.loss)}, duplication ${percent(conditions.duplication)}`,
    `reordering ${percent(conditions.reordering)}, corruption ${percent(conditions.corruption)}`,
    `until ${String(rest.faultsEndUs)} us, areas of ${String(rest.areaBytes)} bytes`,
    ...(rest.foreignMemory ? ['foreign memory'] : []),
    ending === 'well' || ending === 'storm' ? ending : `${ending} at ${String(endingUs)} us`,
  ].join('; ');
}
