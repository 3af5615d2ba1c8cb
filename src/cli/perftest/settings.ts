import { type Mtu, mtuBytes } from '../../entry/index.js';
import { type GpuContext, GpuKind, type GpuOptions } from '../../entry/gpu.js';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { ToolError } from '../kit/errors.js';
import {
  type AtomicType,
  DEFAULT_CQ_MOD,
  DEFAULT_RX_DEPTH,
  DEFAULT_TX_DEPTH,
  type Output,
  type PerfFlags,
  type RateUnits,
} from './flags.js';
import { type Connection, type PerfTest, Verb } from './tests.js';

/** How long to measure, where a number of messages does not say it. */
export interface Period {
  readonly durationMs: number;
  /** At the beginning and at the end, without counting. */
  readonly marginMs: number;
}

/** A limit on the rate of messages: so many in a burst, and bursts as far apart as the rate needs. */
export interface Rate {
  readonly limit: number;
  readonly units: RateUnits;
  readonly burst: number;
}

/** How a test is to be run: what the command line says, and what follows from it. */
export interface Settings {
  readonly test: PerfTest;
  readonly connection: Connection;
  /** Whether this side was given a host: only a client fails below a limit, as with the C tools. */
  readonly isClient: boolean;
  /** Whether this side sends, or is the one that asks: the client, or both. With -b the one that begins. */
  readonly active: boolean;
  /** Whether both sides send: -b. */
  readonly both: boolean;
  /** The longest message. */
  readonly sizeBytes: number;
  readonly allSizes: boolean;
  /** On each queue pair; Infinity where a period says how long. */
  readonly iterations: number;
  readonly period?: Period;
  /** Measure one period after the other until the user ends it. */
  readonly endless: boolean;
  readonly qps: number;
  readonly txDepth: number;
  readonly rxDepth: number;
  /** Every how many messages one completes with an entry. */
  readonly cqMod: number;
  readonly postList: number;
  readonly recvPostList: number;
  readonly peak: boolean;
  readonly inlineBytes: number;
  readonly sharedReceives: boolean;
  readonly events: boolean;
  readonly atomicType: AtomicType;
  /** Connect by rdma_cm: -R. */
  readonly byCm: boolean;
  /** Talk to the other side by rdma_cm: -R or -z. */
  readonly talkByCm: boolean;
  readonly output?: Output;
  /** How many messages are sent at most; absent: as many as possible. */
  readonly rate?: Rate;
  /** Report how busy the processors are: only with a period. */
  readonly cpuUtil: boolean;
  /** Cycles of the processor in a microsecond, where times are reported in cycles. */
  readonly cyclesPerUs?: number;
  /** In whose memory the messages lie; absent where that is the program's. */
  readonly gpu?: GpuContext;
}

const MAX_SIZE_OF_ALL = 1 << 23;
/** Longer messages complete one by one unless asked otherwise. */
export const LARGE_BYTES = 8192;
const MAX_RX_OF_UNRELIABLE = 16_000;
const MAX_PEAK_ITERATIONS = 20_000;
const DEFAULT_DURATION_S = 5;

/** What small messages of latency tests take along in the request itself, unless asked otherwise. */
const INLINE_WRITE = 220;
const INLINE_SEND = 236;
const INLINE_SEND_UD = 188;

function inlineDefault({ measure, verb }: PerfTest, connection: Connection): number {
  if (measure === 'bw') return 0;
  if (verb === Verb.WRITE) return INLINE_WRITE;
  if (verb !== Verb.SEND) return 0;
  return connection === 'UD' ? INLINE_SEND_UD : INLINE_SEND;
}

const WORKING_OUTPUTS: Readonly<Record<PerfTest['measure'], readonly Output[]>> = {
  bw: ['bandwidth', 'message_rate'],
  lat: ['latency'],
};

export function gpuOf({ use_cuda, use_opencl }: PerfFlags): Required<GpuOptions> | undefined {
  if (use_cuda !== undefined) return { kind: GpuKind.CUDA, index: use_cuda };
  return use_opencl === undefined ? undefined : { kind: GpuKind.OPENCL, index: use_opencl };
}

interface Rule {
  readonly breaks: (flags: PerfFlags, test: PerfTest) => boolean;
  readonly says: string;
}

/** What cannot be together, mostly in the words of the C tools. */
const RULES: readonly Rule[] = [
  {
    breaks: ({ duration, run_infinitely, events }) =>
      (duration !== undefined || run_infinitely === true) && events === true,
    says: "Duration mode doesn't work with events.",
  },
  {
    breaks: ({ duration, run_infinitely, all }) => (duration !== undefined || run_infinitely === true) && all === true,
    says: "Duration mode currently doesn't support running on all sizes.",
  },
  {
    breaks: ({ run_infinitely, bidirectional }, { verb }) =>
      run_infinitely === true && bidirectional === true && verb === Verb.SEND,
    says: 'run_infinitely mode is not supported in SEND Bidirectional BW test',
  },
  {
    breaks: ({ duration = DEFAULT_DURATION_S, margin = 0 }) => duration <= 2 * margin,
    says: 'please check that DURATION > 2*MARGIN',
  },
  {
    breaks: ({ rdma_cm, connection }) => rdma_cm === true && connection === 'UC',
    says: 'UC is not supported in librdmacm',
  },
  {
    breaks: ({ rdma_cm, connection }) => rdma_cm === true && connection === 'XRC',
    says: 'XRC does not support RDMA_CM',
  },
  {
    breaks: ({ rdma_cm, tos }) => rdma_cm !== true && tos !== undefined,
    says: 'TOS only valid for rdma_cm based QP',
  },
  {
    breaks: ({ connection, odp }) => connection === 'UC' && odp === true,
    says: 'ODP does not support UC',
  },
  {
    breaks: ({ useSrq, qp = 1, rxDepth = DEFAULT_RX_DEPTH }) => useSrq === true && qp > rxDepth,
    says: 'Using SRQ depth should be greater than number of QPs.',
  },
  {
    breaks: ({ use_cuda, use_opencl }) => use_cuda !== undefined && use_opencl !== undefined,
    says: 'The memory of one device can be used: give --use_cuda or --use_opencl',
  },
  {
    breaks: (flags, { measure, verb }) => gpuOf(flags) !== undefined && measure === 'lat' && verb === Verb.WRITE,
    says: 'The latency of WRITEs is measured by looking at memory, which a program cannot do with that of a device',
  },
  {
    breaks: (flags) => gpuOf(flags) !== undefined && (flags.odp === true || (flags.inline_size ?? 0) > 0),
    says: 'Memory of a device is not sent inline, nor registered for on-demand paging',
  },
  {
    breaks: (flags) => gpuOf(flags) !== undefined && flags.rdma_cm === true && flags.connection === 'UD',
    says: 'Memory of a device is not supported with -R -c UD',
  },
  {
    breaks: ({ output }, { measure }) => output !== undefined && !WORKING_OUTPUTS[measure].includes(output),
    says: 'Output verbosity level for BW can be: bandwidth, message_rate; for LAT: latency',
  },
  {
    breaks: ({ duration, run_infinitely, post_list = 1, iters }, { iterations }) =>
      duration === undefined && run_infinitely !== true && (iters ?? iterations) % post_list !== 0,
    says: 'Number of iterations must be a multiple of post list size',
  },
  {
    breaks: ({ duration, run_infinitely, recv_post_list = 1, iters }, { iterations }) =>
      duration === undefined && run_infinitely !== true && (iters ?? iterations) % recv_post_list !== 0,
    says: 'Number of iterations must be a multiple of receive post list size',
  },
  {
    breaks: ({ rate_limit_type }) => rate_limit_type === 'PP',
    says: 'Packet Pacing is only supported for Raw Ethernet.',
  },
  {
    breaks: ({ rate_limit_type }) => rate_limit_type === 'HW',
    says: 'The QP failed to accept HW rate limit: this device has none. Give --rate_limit_type SW.',
  },
  {
    breaks: ({ rate_limit, rate_limit_type }) => rate_limit === undefined && rate_limit_type !== undefined,
    says: '--rate_limit_type needs a rate: give --rate_limit as well',
  },
  {
    breaks: ({ rate_limit, burst_size }) => rate_limit === undefined && burst_size !== undefined,
    says: "Can't enable burst mode when rate limiter is off",
  },
  {
    breaks: ({ rate_limit, run_infinitely }) => rate_limit !== undefined && run_infinitely === true,
    says: 'run_infinitely does not support rate limit feature yet',
  },
  {
    breaks: ({ rate_limit, bidirectional }, { verb }) =>
      rate_limit !== undefined && (verb === Verb.ATOMIC || (bidirectional === true && verb === Verb.SEND)),
    says: "SW Rate limiter cann't be executed on non-BW, ATOMIC or bidirectional SEND / SEND_IMM tests",
  },
  {
    breaks: ({ post_list = 1, cqMod = 1 }) => post_list > 1 && post_list % cqMod !== 0,
    says: 'Post list size must be a multiple of CQ moderation',
  },
  {
    breaks: ({ post_list = 1, txDepth = DEFAULT_TX_DEPTH }) => post_list > txDepth,
    says: 'Post list size must not be greater than the tx depth',
  },
];

function refuseNonsense(test: PerfTest, flags: PerfFlags): void {
  const broken = RULES.find(({ breaks }) => breaks(flags, test));
  if (broken !== undefined) throw new ToolError(broken.says);
}

function periodOf({ duration, margin, run_infinitely }: PerfFlags): Period | undefined {
  if (run_infinitely === true) return { durationMs: (duration ?? DEFAULT_DURATION_S) * 1000, marginMs: 0 };
  if (duration === undefined) return undefined;
  return { durationMs: duration * 1000, marginMs: (margin ?? Math.floor(duration / 4)) * 1000 };
}

function rxDepthOf({ verb }: PerfTest, flags: PerfFlags, iterations: number): number {
  if (verb !== Verb.SEND) return 1;
  const depth = Math.min(flags.rxDepth ?? DEFAULT_RX_DEPTH, iterations);
  const unreliable = flags.connection === 'UD' || flags.connection === 'UC';
  // What finds no request there is lost.
  const enough = unreliable && depth === DEFAULT_RX_DEPTH && iterations !== Infinity;
  const wanted = enough ? Math.min(iterations, MAX_RX_OF_UNRELIABLE) : depth;
  return flags.all === true ? wanted : wanted + (wanted % 2);
}

/** @throws ToolError when not even one list fits into the receive queue, so that no message would ever be received */
function recvPostListOf(
  { verb }: PerfTest,
  { recv_post_list = 1, useSrq, qp = 1 }: PerfFlags,
  rxDepth: number,
): number {
  const each = useSrq === true ? Math.floor(rxDepth / qp) : rxDepth;
  if (verb === Verb.SEND && recv_post_list > each)
    throw new ToolError(
      `Receive post list size must not be greater than the rx depth of a QP: it is ${recv_post_list}, and the depth ${each}`,
    );
  return recv_post_list;
}

/** As the system reports it, which Node does not always find; 0 where it is unknown. */
function megahertzOf(): number {
  const speed = cpus().at(0)?.speed ?? 0;
  if (speed > 0) return speed;
  try {
    return Number(/^cpu MHz\s*: *([\d.]+)/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Cycles in a microsecond, as the system reports the frequency. */
function cyclesPerUsOf({ reportCycles, duration }: PerfFlags): Pick<Settings, 'cyclesPerUs'> {
  // The report of a duration is in microseconds all the same, as with the C tools.
  if (reportCycles !== true || duration !== undefined) return {};
  const megahertz = megahertzOf();
  if (megahertz > 0) return { cyclesPerUs: megahertz };
  throw new ToolError('The system does not report the frequency of the processor: leave -C out to get microseconds.');
}

function rateOf(
  { rate_limit: limit, rate_units: units = 'g', burst_size }: PerfFlags,
  txDepth: number,
): Pick<Settings, 'rate'> {
  return limit === undefined ? {} : { rate: { limit, units, burst: burst_size ?? txDepth } };
}

function cqModOf(flags: PerfFlags, sizeBytes: number, txDepth: number): number {
  const { cqMod, post_list = 1, connection, all, events } = flags;
  const large = sizeBytes > LARGE_BYTES && connection !== 'UD' && all !== true && events !== true;
  const wanted = cqMod ?? (large ? 1 : DEFAULT_CQ_MOD);
  if (post_list > 1) return cqMod ?? post_list;
  return Math.min(wanted, txDepth);
}

/**
 * How a test is to be run. What follows from what is as in the C tools, since both sides must come to the same.
 *
 * @param client whether this side was given a host
 * @throws ToolError for what cannot be together
 */
export function settle(test: PerfTest, flags: PerfFlags, client: boolean): Settings {
  refuseNonsense(test, flags);
  const { connection, all, events, run_infinitely } = flags;
  const period = periodOf(flags);
  const iterations = period === undefined ? (flags.iters ?? test.iterations) : Infinity;
  const both = flags.bidirectional === true;
  const active = client !== (flags.reversed === true);
  const sizeBytes = flags.size ?? test.sizeBytes;
  const txDepth = test.measure === 'bw' ? Math.min(flags.txDepth ?? DEFAULT_TX_DEPTH, iterations) : 1;
  const rxDepth = rxDepthOf(test, flags, iterations);
  const onlyReceives = test.verb === Verb.SEND && !active && !both;
  return {
    test,
    connection,
    isClient: client,
    active,
    both,
    sizeBytes: all === true ? MAX_SIZE_OF_ALL : sizeBytes,
    allSizes: all === true,
    iterations,
    ...(period === undefined ? {} : { period }),
    endless: run_infinitely === true,
    qps: flags.qp ?? 1,
    txDepth,
    rxDepth,
    cqMod: cqModOf(flags, sizeBytes, txDepth),
    postList: flags.post_list ?? 1,
    recvPostList: recvPostListOf(test, flags, rxDepth),
    peak: test.measure === 'bw' && flags.noPeak !== true && !onlyReceives && iterations <= MAX_PEAK_ITERATIONS,
    inlineBytes: gpuOf(flags) === undefined ? (flags.inline_size ?? inlineDefault(test, connection)) : 0,
    sharedReceives: flags.useSrq === true || connection === 'XRC',
    events: events === true,
    atomicType: flags.atomic_type ?? 'FETCH_AND_ADD',
    byCm: flags.rdma_cm === true,
    talkByCm: flags.rdma_cm === true || flags.comm_rdma_cm === true,
    ...(flags.output === undefined ? {} : { output: flags.output }),
    ...rateOf(flags, txDepth),
    cpuUtil: flags.cpu_util === true && period !== undefined,
    ...cyclesPerUsOf(flags),
  };
}

/**
 * A datagram is one packet, so no longer than the MTU.
 *
 * @param asked whether the length was asked for, and did not just come about
 * @param note takes what the user should know
 * @throws ToolError when it was asked for
 */
export function fitToMtu(settings: Settings, mtu: Mtu, asked: boolean, note: (text: string) => void): Settings {
  const most = mtuBytes(mtu);
  if (settings.connection !== 'UD' || settings.sizeBytes <= most) return settings;
  if (asked && !settings.allSizes) throw new ToolError('Max message size in UD cannot be greater than MTU');
  note(`Max msg size in UD is MTU ${most}; changing to this MTU`);
  return { ...settings, sizeBytes: most };
}

export function sizesOf({ allSizes, sizeBytes }: Settings): number[] {
  if (!allSizes) return [sizeBytes];
  return Array.from({ length: Math.log2(sizeBytes) }, (_, i) => 2 ** (i + 1));
}

/** Whether a side only holds its memory out. */
export function isPassive({ test, active, both }: Settings): boolean {
  if (active || both || test.verb === Verb.SEND) return false;
  return test.verb !== Verb.WRITE || test.measure === 'bw';
}
