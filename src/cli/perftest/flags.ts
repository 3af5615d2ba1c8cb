import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Mtu } from '../../entry/index.js';
import { pathMtu, type HostingOptions, wholeNumber, withHosting, numberOption } from '../kit/options.js';
import { otherOptions } from './other-options.js';
import { type Connection, type PerfTest, Verb } from './tests.js';

/** The kinds of atomic operations, by the names of the C tools. */
export const ATOMIC_TYPES = ['CMP_AND_SWAP', 'FETCH_AND_ADD'] as const;
export type AtomicType = (typeof ATOMIC_TYPES)[number];

/** One figure that may be asked for in place of the table. */
export const OUTPUTS = ['bandwidth', 'message_rate', 'latency'] as const;
export type Output = (typeof OUTPUTS)[number];

/** Units of `--rate_limit`: MiB/s, Gbit/s, messages a second. */
export const RATE_UNITS = ['M', 'g', 'p'] as const;
export type RateUnits = (typeof RATE_UNITS)[number];

/** The options of the tests. Which of them a test has, the table below says. */
export interface PerfFlags extends HostingOptions {
  readonly all?: true;
  readonly atomic_type?: AtomicType;
  readonly bidirectional?: true;
  readonly connection: Connection;
  readonly ibDev?: string;
  readonly duration?: number;
  readonly events?: true;
  readonly margin?: number;
  readonly reportCounters?: readonly string[];
  readonly reportCycles?: true;
  readonly reportHistogram?: true;
  readonly ibPort: number;
  readonly inline_size?: number;
  readonly post_list?: number;
  readonly recv_post_list?: number;
  readonly mtu?: Mtu;
  readonly iters?: number;
  readonly noPeak?: true;
  readonly outs?: number;
  readonly port: number;
  readonly qp?: number;
  readonly cqMod?: number;
  readonly rxDepth?: number;
  readonly rdma_cm?: true;
  readonly size?: number;
  readonly sl: number;
  readonly txDepth?: number;
  readonly tos?: number;
  readonly qpTimeout: number;
  readonly reportUnsorted?: true;
  readonly limit_bw?: number;
  readonly gidIndex?: number;
  readonly limit_msgrate?: number;
  readonly comm_rdma_cm?: true;
  readonly cpu_util?: true;
  readonly out_json?: true;
  readonly out_json_file?: string;
  readonly dont_xchg_versions?: true;
  readonly latency_gap?: number;
  readonly odp?: true;
  readonly output?: Output;
  readonly perform_warm_up?: true;
  readonly pkey_index: number;
  readonly reportBoth?: true;
  readonly report_gbits?: true;
  readonly reversed?: true;
  readonly run_infinitely?: true;
  readonly rate_limit?: number;
  readonly rate_limit_type?: 'HW' | 'SW' | 'PP';
  readonly rate_units?: RateUnits;
  readonly burst_size?: number;
  readonly retry_count: number;
  readonly source_ip?: string;
  readonly tclass: number;
  readonly useSrq?: true;
  readonly use_cuda?: number;
  readonly use_opencl?: number;
  readonly json?: true;
  readonly warmUp?: boolean;
}

/** The longest message that -s takes, and what -a goes up to. */
const MAX_SIZE = 2 ** 31 - 1;
const MIN_ITERATIONS = 5;
const MAX_ITERATIONS = 100_000_000;
const MAX_TX_DEPTH = 15_000;
const MAX_RX_DEPTH = 16_384;
const MAX_QPS = 16_384;
const MAX_CQ_MOD = 1024;
const MAX_INLINE = 912;
const MAX_GID_INDEX = 64;
const MAX_GPUS = 1024;
export const DEFAULT_TX_DEPTH = 128;
export const DEFAULT_RX_DEPTH = 512;
export const DEFAULT_CQ_MOD = 100;
export const DEFAULT_RETRIES = 7;
const PORT = 18515;
export const DEFAULT_JSON_FILE = 'perftest_out.json';

function flag(flags: string, what: string): Option {
  return new Option(flags, what);
}

const SIZE_FACTORS = new Map([
  ['K', 1024],
  ['M', 1024 ** 2],
]);

function size(text: string): number {
  const factor = SIZE_FACTORS.get(text.slice(-1));
  if (factor === undefined) return wholeNumber(1, MAX_SIZE)(text);
  return wholeNumber(1, Math.floor(MAX_SIZE / factor))(text.slice(0, -1)) * factor;
}

function notNegative(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value < Infinity)) throw new InvalidArgumentError('Give a number that is not negative.');
  return value;
}

function positive(text: string): number {
  const value = notNegative(text);
  if (value === 0) throw new InvalidArgumentError('Give a number above 0.');
  return value;
}

const isBw = ({ measure }: PerfTest): boolean => measure === 'bw';
const isLat = ({ measure }: PerfTest): boolean => measure === 'lat';
const isSend = ({ verb }: PerfTest): boolean => verb === Verb.SEND;
const isAtomic = ({ verb }: PerfTest): boolean => verb === Verb.ATOMIC;
/** Whether the answer brings something, so that there may be so many under way only. */
const asks = ({ verb }: PerfTest): boolean => verb === Verb.READ || verb === Verb.ATOMIC;

interface Row {
  /** Which tests have it; default: all. */
  readonly has?: (test: PerfTest) => boolean;
  readonly option: (test: PerfTest) => Option;
}

const ROWS: readonly Row[] = [
  {
    has: (test) => !isAtomic(test),
    option: () => flag('-a, --all', 'run sizes from 2 till 2^23'),
  },
  {
    has: isAtomic,
    option: () =>
      new Option('-A, --atomic_type <type>', 'type of atomic operation').choices(ATOMIC_TYPES).default('FETCH_AND_ADD'),
  },
  { has: isBw, option: () => flag('-b, --bidirectional', 'measure bidirectional bandwidth') },
  {
    option: ({ connections }) =>
      new Option('-c, --connection <type>', 'connection type').choices(connections).default('RC'),
  },
  { option: () => flag('-d, --ib-dev <dev>', 'use IB device <dev> (default first device found)') },
  {
    option: () => numberOption('-D, --duration <seconds>', 'run test for a customized period of seconds', 1, 1 << 20),
  },
  {
    has: ({ verb }) => verb !== Verb.WRITE,
    option: () => flag('-e, --events', 'sleep on CQ events (default poll)'),
  },
  {
    option: () =>
      numberOption('-f, --margin <seconds>', 'with -D: measure within margins (default a quarter of -D)', 0, 1 << 20),
  },
  {
    option: () => flag('-F, --CPU-freq', 'accepted; times here do not depend on the frequency of the CPU'),
  },
  {
    has: isLat,
    option: () => flag('-C, --report-cycles', 'report times in cycles of the processor (default microseconds)'),
  },
  {
    has: isLat,
    option: () => flag('-H, --report-histogram', 'print out all results (default print summary only)'),
  },
  { option: () => numberOption('-i, --ib-port <port>', 'use port <port> of IB device', 1, 255, 1) },
  {
    has: (test) => !asks(test),
    option: () => numberOption('-I, --inline_size <size>', 'max size of message to be sent in inline', 0, MAX_INLINE),
  },
  {
    has: isBw,
    option: () =>
      numberOption('-l, --post_list <list size>', 'post lists of send requests of this size', 1, MAX_TX_DEPTH, 1),
  },
  {
    option: () =>
      new Option('-m, --mtu <mtu>', 'path MTU: 256 to 4096 (default port mtu, or the smaller of both)').argParser(
        pathMtu,
      ),
  },
  {
    option: ({ iterations }) =>
      numberOption(
        '-n, --iters <iters>',
        `number of exchanges (default ${iterations})`,
        MIN_ITERATIONS,
        MAX_ITERATIONS,
      ),
  },
  {
    has: isBw,
    option: () => flag('-N, --noPeak', 'cancel peak-bw calculation (default with peak up to iters=20000)'),
  },
  {
    has: asks,
    option: () => numberOption('-o, --outs <num>', 'num of outstanding read/atom (default max of device)', 1, 255),
  },
  { option: () => numberOption('-p, --port <port>', 'listen on/connect to port <port>', 1, 65535, PORT) },
  { has: isBw, option: () => numberOption("-q, --qp <num of qp's>", "num of qp's", 1, MAX_QPS, 1) },
  {
    has: isBw,
    option: () => numberOption('-Q, --cq-mod <num>', 'generate Cqe only after <num> completions', 1, MAX_CQ_MOD),
  },
  {
    has: isSend,
    option: () => numberOption('-r, --rx-depth <dep>', `rx queue size (default ${DEFAULT_RX_DEPTH})`, 1, MAX_RX_DEPTH),
  },
  { option: () => flag('-R, --rdma_cm', 'connect QPs with rdma_cm and run test on those QPs') },
  {
    has: (test) => !isAtomic(test),
    option: ({ sizeBytes }) =>
      new Option(
        '-s, --size <size>',
        `size of message to exchange; K and M stand for 2^10 and 2^20 (default ${sizeBytes})`,
      ).argParser(size),
  },
  { option: () => numberOption('-S, --sl <sl>', 'SL', 0, 15, 0) },
  {
    has: isBw,
    option: () => numberOption('-t, --tx-depth <dep>', 'size of tx queue', 1, MAX_TX_DEPTH, DEFAULT_TX_DEPTH),
  },
  {
    option: () => numberOption('-T, --tos <tos value>', 'set <tos_value> to RDMA-CM QPs; only with -R', 0, 255),
  },
  {
    option: () =>
      numberOption('-u, --qp-timeout <timeout>', 'QP timeout, timeout value is 4 usec * 2^timeout', 0, 31, 14),
  },
  { has: isLat, option: () => flag('-U, --report-unsorted', 'print out unsorted results') },
  {
    has: isBw,
    option: () => new Option('-w, --limit_bw <value>', 'client: fail below this bandwidth').argParser(notNegative),
  },
  {
    option: () =>
      numberOption(
        '-x, --gid-index <index>',
        'use GID with GID index (default: the one that has the address)',
        0,
        MAX_GID_INDEX,
      ),
  },
  {
    has: isBw,
    option: () =>
      new Option('-y, --limit_msgrate <value>', 'client: fail below this message rate').argParser(notNegative),
  },
  {
    option: () => flag('-z, --comm_rdma_cm', 'communicate with rdma_cm module to exchange data - use regular QPs'),
  },
  {
    option: () =>
      new Option('-W, --report-counters <names>', 'print how much these counters of the device grew').argParser(
        (text) => text.split(','),
      ),
  },
  {
    has: isBw,
    option: () =>
      numberOption('--burst_size <messages>', 'with --rate_limit: messages in a burst (default -t)', 1, 1 << 30),
  },
  { option: () => flag('--cpu_util', 'with -D: report the utilization of the processors') },
  { option: () => flag('--out_json', 'save the report in a json file') },
  {
    option: () => flag('--out_json_file <file>', `name of the report json file (default ${DEFAULT_JSON_FILE})`),
  },
  {
    option: () => flag('--dont_xchg_versions', 'do not exchange versions and MTU with other side'),
  },
  {
    has: isLat,
    option: () => numberOption('--latency_gap <microseconds>', 'delay time between each post send', 0, 1 << 30),
  },
  { option: () => flag('--odp', 'use On Demand Paging') },
  { option: () => new Option('--output <units>', 'print one figure only').choices(OUTPUTS) },
  {
    has: (test) => isBw(test) && !isSend(test),
    option: () => flag('--perform_warm_up', 'perform some iterations before start measuring'),
  },
  { option: () => numberOption('--pkey_index <index>', 'PKey index to use for QP', 0, 0xffff, 0) },
  {
    has: isBw,
    option: () =>
      new Option('--rate_limit <rate>', 'send no more than this, limited by software (default no limit)').argParser(
        positive,
      ),
  },
  {
    has: isBw,
    option: () => new Option('--rate_limit_type <type>', 'only SW works here').choices(['HW', 'SW', 'PP']),
  },
  {
    has: isBw,
    option: () =>
      new Option('--rate_units <units>', 'of --rate_limit: MiB/s (M), Gbit/s (g), messages/s (p); default g').choices(
        RATE_UNITS,
      ),
  },
  {
    has: isBw,
    option: () =>
      numberOption('--recv_post_list <list size>', 'post lists of receive requests of this size', 1, MAX_RX_DEPTH),
  },
  {
    has: isBw,
    option: () => flag('--report-both', 'with -b: report RX & TX results separately, too'),
  },
  {
    has: isBw,
    option: () => flag('--report_gbits', 'report bandwidth in Gbit/sec (default MiB/sec)'),
  },
  {
    has: isBw,
    option: () => flag('--reversed', 'reverse traffic direction - server sends to client'),
  },
  {
    has: isBw,
    option: () => flag('--run_infinitely', 'run test forever, print results every <duration> seconds'),
  },
  {
    option: () => numberOption('--retry_count <value>', 'set retry count value in rdma_cm mode', 0, 7, DEFAULT_RETRIES),
  },
  {
    option: () => flag('--source_ip <address>', 'with -R or -z: address to connect from, or to listen at'),
  },
  { option: () => numberOption('--tclass <value>', 'set the Traffic Class in GRH', 0, 255, 0) },
  {
    option: () =>
      numberOption('--use_cuda <cuda device id>', 'use memory of a CUDA device, by its number', 0, MAX_GPUS - 1),
  },
  {
    option: () =>
      numberOption('--use_opencl <opencl device id>', 'use memory of an OpenCL device, by its number', 0, MAX_GPUS - 1),
  },
  {
    has: isSend,
    option: () => flag('--use-srq', 'use a Shared Receive Queue of <rx-depth> requests'),
  },
];

/** Adds the argument and the options that a test has, and those that all of our tools have. */
export function withFlags(command: Command, test: PerfTest): Command {
  command.argument('[host]', "the server's host name or address");
  for (const { has, option } of ROWS) if (has === undefined || has(test)) command.addOption(option(test));
  for (const option of otherOptions(test)) command.addOption(option);
  command
    .option('--json', 'print one JSON object in place of the table')
    .option('--no-warm-up', 'measure from the first message on, when this program has yet to be compiled');
  return withHosting(command);
}
