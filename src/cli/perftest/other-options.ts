import { Option } from 'commander';
import { ToolError } from '../kit/errors.js';
import { wholeNumber } from '../kit/options.js';
import { type PerfTest, SIZE_ATOMIC, Verb } from './tests.js';

/** An option of the C tools that a test does not have, but takes. */
interface OtherOption {
  /** Which tests take it; default: all. */
  readonly has?: (test: PerfTest) => boolean;
  readonly flags: string;
  readonly parse?: (text: string) => unknown;
  /** Why a value is refused, in the words of the C tools where they refuse it; undefined: it has no effect. */
  readonly refusal?: (value: unknown) => string | undefined;
}

const MAX_NUMBER = 2 ** 31 - 1;
const number = wholeNumber(0, MAX_NUMBER);

const isBw = ({ measure }: PerfTest): boolean => measure === 'bw';
const isLat = ({ measure }: PerfTest): boolean => measure === 'lat';
const isAtomic = ({ verb }: PerfTest): boolean => verb === Verb.ATOMIC;
const isSend = ({ verb }: PerfTest): boolean => verb === Verb.SEND;
const isWrite = ({ verb }: PerfTest): boolean => verb === Verb.WRITE;
const asks = ({ verb }: PerfTest): boolean => verb === Verb.READ || verb === Verb.ATOMIC;
const not =
  (rule: (test: PerfTest) => boolean) =>
  (test: PerfTest): boolean =>
    !rule(test);

const always = (says: string) => (): string => says;
const above =
  (most: number, says: string) =>
  (value: unknown): string | undefined =>
    typeof value === 'number' && value > most ? says : undefined;

const ONLY_LAT = 'Available only on Latency tests';
const ONE_SIZE = `Atomic operations move ${SIZE_ATOMIC} bytes, so there is no other size`;
const ONE_PORT = 'Dual-port mode needs two ports, and this device has one';
const NO_ENCRYPTION = 'Encryption by the device (AES-XTS) is not supported: leave its options out';
const NO_DC = 'log_dci_streams supported only on DC, and this device has no DC';
const NO_MAPPED_FILE = 'Messages in a mapped file are not supported: leave --mmap and --mmap-offset out';
const NO_RATE = "SW Rate limiter cann't be executed on non-BW, ATOMIC or bidirectional SEND / SEND_IMM tests";
const NO_MULTICAST = 'Multicast is not supported by this tool; mckey joins multicast groups';

/** Options of other tests: refused with the reason that the C tools print, or taken without effect as they do. */
const OF_OTHER_TESTS: readonly OtherOption[] = [
  { has: isAtomic, flags: '-a, --all', refusal: always(ONE_SIZE) },
  {
    has: isAtomic,
    flags: '-s, --size <size>',
    parse: number,
    refusal: (value) => (value === SIZE_ATOMIC ? undefined : ONE_SIZE),
  },
  {
    has: not(isAtomic),
    flags: '-A, --atomic_type <type>',
    refusal: always(
      'You are not running the atomic_lat/bw test! To change the atomic action type, you must run one of the atomic tests',
    ),
  },
  {
    has: isLat,
    flags: '-b, --bidirectional',
    refusal: always('Bidirectional is only available in BW test'),
  },
  {
    has: isWrite,
    flags: '-e, --events',
    refusal: always('Events feature not available on WRITE verb'),
  },
  { has: isBw, flags: '-C, --report-cycles', refusal: always(ONLY_LAT) },
  { has: isBw, flags: '-H, --report-histogram', refusal: always(ONLY_LAT) },
  { has: isBw, flags: '-U, --report-unsorted', refusal: always(ONLY_LAT) },
  {
    has: asks,
    flags: '-I, --inline_size <size>',
    parse: number,
    refusal: always('Inline feature not available on READ/Atomic verbs'),
  },
  {
    has: isLat,
    flags: '-l, --post_list <list size>',
    parse: number,
    refusal: above(1, 'Post list is supported in BW tests only'),
  },
  { has: isLat, flags: '-N, --noPeak', refusal: always('NoPeak only valid for BW tests') },
  {
    has: not(asks),
    flags: '-o, --outs <num>',
    parse: number,
    refusal: always('Setting Outstanding reads only available on READ verb'),
  },
  {
    has: isLat,
    flags: "-q, --qp <num of qp's>",
    parse: number,
    refusal: above(1, 'Multiple QPs only available on bw tests'),
  },
  { has: isLat, flags: '-Q, --cq-mod <num>', parse: number },
  {
    has: not(isSend),
    flags: '-r, --rx-depth <dep>',
    parse: number,
    refusal: above(1, 'On RDMA verbs rx depth can be only 1'),
  },
  { has: isLat, flags: '-t, --tx-depth <dep>', parse: number },
  { has: isLat, flags: '-w, --limit_bw <value>' },
  { has: isLat, flags: '-y, --limit_msgrate <value>' },
  {
    has: isBw,
    flags: '--latency_gap <microseconds>',
    parse: number,
    refusal: above(0, 'Latency gap feature is only for latency tests'),
  },
  { has: (test) => isLat(test) || isSend(test), flags: '--perform_warm_up' },
  { has: isLat, flags: '--burst_size <messages>', refusal: always("Can't enable burst mode when rate limiter is off") },
  { has: isLat, flags: '--rate_limit <rate>', refusal: always(NO_RATE) },
  { has: isLat, flags: '--rate_limit_type <type>', refusal: always(NO_RATE) },
  { has: isLat, flags: '--rate_units <units>' },
  {
    has: isLat,
    flags: '--recv_post_list <list size>',
    parse: number,
    refusal: above(1, 'Receive post list is supported in BW tests only'),
  },
  { has: isLat, flags: '--report-both' },
  { has: isLat, flags: '--report_gbits' },
  {
    has: isLat,
    flags: '--reversed',
    refusal: always('Reversed traffic is only available in BW tests: latency is that of both directions'),
  },
  {
    has: isLat,
    flags: '--run_infinitely',
    refusal: always('run_infinitely exists only in BW tests for now.'),
  },
  {
    has: not(isSend),
    flags: '--use-srq',
    refusal: always('Using SRQ only available in SEND tests.'),
  },
  { has: isSend, flags: '-g, --mcg', refusal: always(NO_MULTICAST) },
  { has: isSend, flags: '-M, --MGID <gid>', refusal: always(NO_MULTICAST) },
  {
    has: not(isSend),
    flags: '-g, --mcg',
    refusal: always('MultiCast feature only available on SEND verb'),
  },
  {
    has: not(isSend),
    flags: '-M, --MGID <gid>',
    refusal: always('MultiCast feature only available on SEND verb'),
  },
  {
    flags: '-L, --hop_limit <limit>',
    parse: number,
    refusal: always('Hop limit only valid for RawEth QP'),
  },
];

/** Options of hardware that this device does not have. */
const OF_OTHER_DEVICES: readonly OtherOption[] = [
  ...['-O, --dualport', '--report-per-port'].map((flags) => ({ flags, refusal: always(ONE_PORT) })),
  ...[
    '--aes_xts',
    '--encrypt_on_tx',
    '--sig_before',
    '--aes_block_size <bytes>',
    '--data_enc_keys_number <number>',
    '--kek_path <file>',
    '--credentials_path <file>',
    '--data_enc_key_app_path <file>',
  ].map((flags) => ({ flags, refusal: always(NO_ENCRYPTION) })),
  ...['--log_dci_streams <number>', '--log_active_dci_streams <number>'].map((flags) => ({
    flags,
    refusal: always(NO_DC),
  })),
  ...['--mmap <file>', '--mmap-offset <offset>'].map((flags) => ({ flags, refusal: always(NO_MAPPED_FILE) })),
  { flags: '--typical_pkt_size <bytes>', refusal: always('Typical packet size only supports PP rate limiter') },
];

/** Options that change nothing here: of hardware, of other memory, of how the C tools poll. */
const WITHOUT_EFFECT: readonly OtherOption[] = [
  { has: not(isWrite), flags: '-X, --vector <completion vector>', parse: number },
  {
    has: isWrite,
    flags: '-X, --vector <completion vector>',
    parse: number,
    refusal: always('Events feature not available on WRITE verb'),
  },
  { flags: '--congest_type <type>' },
  { flags: '--cqe_poll <count>', parse: number },
  { flags: '--disable_dynamic_polling' },
  { flags: '--disable_numa' },
  { flags: '--disable_pcie_relaxed' },
  {
    flags: '--force-link <type>',
    refusal: (value) => (value === 'Ethernet' ? undefined : 'The link of this device is Ethernet: give no other'),
  },
  { flags: '--dlid <lid>', parse: number },
  { flags: '--inline_recv <size>', parse: number },
  { flags: '--ipv6' },
  { flags: '--ipv6-addr' },
  { flags: '--mr_per_qp' },
  { flags: '--no_enhanced_reorder' },
  { flags: '--no_lock' },
  { flags: '--numa_node <node>' },
  { flags: '--pin_cores <cores>' },
  { flags: '--use_hugepages' },
  { flags: '--use_ooo' },
  { flags: '--use_old_post_send' },
  { flags: '--wait_destroy <seconds>', parse: number },
];

function optionsOf(test: PerfTest): readonly { readonly row: OtherOption; readonly option: Option }[] {
  return [...OF_OTHER_TESTS, ...OF_OTHER_DEVICES, ...WITHOUT_EFFECT]
    .filter(({ has }) => has === undefined || has(test))
    .map((row) => {
      const option = new Option(row.flags, '').hideHelp();
      if (row.parse !== undefined) option.argParser(row.parse);
      return { row, option };
    });
}

/** The options that a test takes in addition to its own, without a line in its help. */
export function otherOptions(test: PerfTest): readonly Option[] {
  return optionsOf(test).map(({ option }) => option);
}

/** @param flags what the command line gave. @throws ToolError for an option of another test */
export function refuseOtherOptions(test: PerfTest, flags: object): void {
  const given = new Map<string, unknown>(Object.entries(flags));
  for (const { row, option } of optionsOf(test)) {
    const name = option.attributeName();
    const says = given.get(name) === undefined ? undefined : row.refusal?.(given.get(name));
    if (says !== undefined) throw new ToolError(says);
  }
}
