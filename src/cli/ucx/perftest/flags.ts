import { type Command, InvalidArgumentError, Option } from 'commander';
import { ToolError } from '../../kit/errors.js';
import { type HostingOptions, wholeNumber, withHosting, numberOption } from '../../kit/options.js';
import { processorsOption } from '../../kit/spinning.js';
import {
  ATOMICS,
  type AtomicsName,
  checkPlan,
  type Layout,
  LAYOUTS,
  MAX_BYTES,
  MAX_HEADER_BYTES,
  MAX_ITERATIONS,
  MAX_OUTSTANDING,
  type Plan,
  type TransportName,
  TRANSPORTS,
} from './plan.js';
import { testOf, UCX_TESTS, type UctTest } from './tests.js';

/** The options, by their letters as in UCX's tool. */
export interface UcxPerfFlags extends HostingOptions {
  readonly t?: string;
  readonly s: readonly number[];
  readonly n: number;
  readonly w: number;
  readonly O: number;
  readonly i: number;
  readonly p: number;
  readonly D?: readonly [Layout, Layout];
  readonly c?: string;
  readonly d?: string;
  readonly x?: TransportName;
  readonly R: number;
  readonly H?: number;
  readonly C?: true;
  readonly U?: true;
  readonly l?: true;
  readonly o?: true;
  readonly B?: true;
  readonly 6?: true;
  readonly N?: true;
  readonly f?: true;
  readonly v?: true;
  readonly I?: true;
  readonly transport?: TransportName;
  readonly atomics?: AtomicsName;
  readonly json?: true;
}

const PORT = 13337;
const ITERATIONS = 1_000_000;
const WARM_UP = 10_000;
const MEDIAN = 50;
/** Bytes of the header of an active message of UCT, which is a part of it. */
const UCT_HEADER_BYTES = 8;
const ALL_LAYOUTS = [...LAYOUTS.UCP, ...LAYOUTS.UCT];
/** UCX's names of transports of UCT, and what they are here. */
const UCT_TRANSPORTS: ReadonlyMap<string, TransportName> = new Map([
  ['rc', 'rc'],
  ['rc_v', 'rc'],
  ['rc_verbs', 'rc'],
  ['ud', 'ud'],
  ['ud_v', 'ud'],
  ['ud_verbs', 'ud'],
  ['self', 'self'],
]);

function sizes(text: string): readonly number[] {
  return text.split(',').map(wholeNumber(0, MAX_BYTES));
}

function layouts(text: string): readonly [Layout, Layout] {
  const [send, receive = send, ...more] = text.split(',').map((word) => ALL_LAYOUTS.find((layout) => layout === word));
  if (send === undefined || receive === undefined || more.length > 0)
    throw new InvalidArgumentError(
      `Give ${ALL_LAYOUTS.join(', ')}; or two of contig and iov: of the sender, and of the receiver.`,
    );
  return [send, receive];
}

function uctTransport(text: string): TransportName {
  const transport = UCT_TRANSPORTS.get(text);
  if (transport === undefined) throw new InvalidArgumentError(`Give ${[...UCT_TRANSPORTS.keys()].join(', ')}.`);
  return transport;
}

function percentileRank(text: string): number {
  const rank = Number(text);
  if (text === '' || !(rank >= 0 && rank <= 100)) throw new InvalidArgumentError('Give a number from 0 to 100.');
  return rank;
}

/** Options of UCX's tool that have one value here, its default. */
const ONLY_DEFAULTS = [
  {
    flags: '-m <memory>',
    values: ['host', 'host,host'],
    why: 'Memory is that of the host: give host.',
  },
  { flags: '-T <threads>', values: ['1'], why: 'A process measures with one thread: give 1.' },
  {
    flags: '-M <mode>',
    values: ['single', 'serialized', 'multi'],
    why: 'Give single, serialized or multi.',
  },
  { flags: '-r <mode>', values: ['recv'], why: 'Streams are received by recv: give recv.' },
  { flags: '-E <mode>', values: ['poll'], why: 'Completions are awaited by polling: give poll.' },
  { flags: '-P <0|1>', values: ['0'], why: 'There is no MPI here: give 0.' },
] as const;

function onlyDefault({ flags, values, why }: (typeof ONLY_DEFAULTS)[number]): Option {
  return new Option(flags, '').hideHelp().argParser((text) => {
    if (!values.some((value) => value === text)) throw new InvalidArgumentError(why);
    return text;
  });
}

export function withUcxFlags(command: Command): Command {
  const options = [
    new Option('-t <test>', 'test to run').choices(UCX_TESTS.map(({ name }) => name)),
    new Option('-s <size>', 'size of a message, or list of sizes of its pieces, as in 16,48')
      .argParser(sizes)
      .default([8], '8'),
    numberOption('-n <iters>', 'number of iterations to run; 0: until Ctrl-C', 0, MAX_ITERATIONS, ITERATIONS),
    numberOption('-w <iters>', 'number of warm-up iterations', 0, MAX_ITERATIONS, WARM_UP),
    numberOption(
      '-O <count>',
      'maximal number of uncompleted outstanding sends; 0: what the test has',
      0,
      MAX_OUTSTANDING,
      0,
    ),
    new Option('-R <rank>', 'percentile rank of the percentile data').argParser(percentileRank).default(MEDIAN),
    numberOption('-p <port>', 'TCP port to use for data exchange', 1, 65535, PORT),
    new Option(
      '-D <layout>',
      'data layout: of tags contig (default) or iov, or two of them, for sender and receiver side; of UCT short (default), bcopy or zcopy',
    ).argParser(layouts),
    processorsOption(),
    new Option('-d <device>', 'device to use (default: the first)'),
    new Option('-x <tl>', 'transport of a test of UCT: rc, ud or, with -l, self').argParser(uctTransport),
    new Option('-C', 'use wild-card tag for tag tests'),
    new Option('-U', 'force unexpected flow by using tag probe'),
    new Option(
      '-H <size>',
      'active message header size: of UCP not included in message size (default: 0), of UCT included (default: 8)',
    ).argParser(wholeNumber(0, MAX_HEADER_BYTES)),
    numberOption('-i <offset>', 'distance between consecutive pieces of -D iov; 0: none lies between', 0, MAX_BYTES, 0),
    new Option('-o', 'do not progress the responder in one-sided tests: its program sleeps'),
    new Option('-B', 'register memory with NONBLOCK flag, which says nothing here'),
    new Option('-6', 'use IPv6'),
    new Option('-l', 'use loopback connection: the process communicates with itself'),
    new Option('-N', 'use numeric formatting (thousands separator)'),
    new Option('-f', 'print only final numbers'),
    new Option('-v', 'print CSV-formatted output'),
    new Option('-I', 'print by which protocol messages go'),
    new Option('--transport <name>', 'how messages go; both sides follow the client (default: UCX_TLS, or rc)').choices(
      TRANSPORTS,
    ),
    new Option(
      '--atomics <how>',
      "who does atomics of UCP: the server's worker, by messages, or its adapter (default: messages)",
    ).choices(ATOMICS),
    new Option('--json', 'print one JSON object'),
    ...ONLY_DEFAULTS.map(onlyDefault),
  ];
  for (const option of options) command.addOption(option);
  return withHosting(command.argument('[server]', 'name or address of the server; without, be one'));
}

/** What a client is to do. By which transport, may only be known when there is a device. @throws ToolError for what cannot be together */
export function planOf(flags: UcxPerfFlags): Omit<Plan, 'transport'> {
  const test = flags.t === undefined ? undefined : testOf(flags.t);
  if (test === undefined) throw new ToolError('Give the test by -t; --help lists them.');
  if (test.api === 'UCT') checkUctFlags(test, flags);
  else if (flags.x !== undefined)
    throw new ToolError(`-x is for the tests of UCT; of ${test.name} choose by --transport.`);
  const isUct = test.api === 'UCT';
  const [preset, atomics] = isUct ? (['short', 'device'] as const) : (['contig', 'messages'] as const);
  const [sendLayout, receiveLayout] = flags.D ?? [preset, preset];
  const bytes = flags.s.reduce((sum, size) => sum + size, 0);
  const headerBytes = isUct && test.family === 'am' ? Math.min(UCT_HEADER_BYTES, bytes) : 0;
  return checkPlan({
    test,
    sizes: flags.s,
    stride: flags.i,
    sendLayout,
    receiveLayout,
    iterations: flags.n,
    warmUp: flags.w,
    outstanding: flags.O === 0 ? test.outstanding : flags.O,
    headerBytes: flags.H ?? headerBytes,
    wildcard: flags.C === true,
    unexpected: flags.U === true,
    atomics: flags.atomics ?? atomics,
    oneSided: flags.o === true,
  });
}

function checkUctFlags({ name }: UctTest, { x, l, transport, atomics }: UcxPerfFlags): void {
  if (x === undefined) throw new ToolError(`${name} is of UCT: give its transport by -x, rc, ud or self.`);
  if (x === 'self' && l !== true) throw new ToolError('self leads to this process alone: give -l.');
  if (transport !== undefined) throw new ToolError(`--transport is for the tests of UCP; of ${name} choose by -x.`);
  if (atomics !== undefined) throw new ToolError(`--atomics is for the tests of UCP; those of UCT are the adapter's.`);
}
