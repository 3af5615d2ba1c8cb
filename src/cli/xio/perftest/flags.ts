import { type Command, InvalidArgumentError, Option } from 'commander';
import { ToolError } from '../../kit/errors.js';
import { type HostingOptions, wholeNumber, withHosting, numberOption } from '../../kit/options.js';
import { processorsOption } from '../../kit/spinning.js';
import { MAX_BYTES } from './server.js';
import { testOf, type XioTest, XIO_TESTS } from './tests.js';

/** The options, by their letters as in Accelio's tools. */
export interface XioPerfFlags extends HostingOptions {
  readonly c?: string;
  readonly p: number;
  readonly n: number;
  readonly r: 'rdma' | 'tcp';
  readonly w: number;
  readonly t?: number;
  readonly q?: number;
  readonly s?: readonly number[];
  readonly o?: string;
  readonly seconds: number;
  readonly warmUp: number;
  readonly json?: true;
}

const PORT = 2061;
const MAX_THREADS = 64;
const MAX_DEPTH = 8192;
const MAX_SPIN_US = 1_000_000;
const LARGEST_BYTES = 1 << 20;
const MAX_MEMORY = 2 ** 31;

const DEFAULT_SIZES: readonly number[] = Array.from({ length: Math.log2(LARGEST_BYTES) + 1 }, (_, power) => 1 << power);

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1 << 10, m: 1 << 20 };

function sizes(text: string): readonly number[] {
  return text.split(',').map((size) => {
    const [, digits, unit] = /^(\d+)([km])$/i.exec(size) ?? ['', size, ''];
    const factor = UNITS[unit.toLowerCase()];
    return wholeNumber(0, Math.floor(MAX_BYTES / factor))(digits) * factor;
  });
}

function seconds(text: string): number {
  const value = Number(text);
  if (text !== '' && value >= 0 && value <= 3600) return value;
  throw new InvalidArgumentError('Give seconds, 0 to 3600.');
}

export function withXioFlags(command: Command): Command {
  const options = [
    processorsOption(),
    numberOption('-p <port>', 'where the server listens', 1, 65_535).default(PORT),
    numberOption('-n <threads>', 'threads of the client, each with a session of its own', 1, MAX_THREADS).default(1),
    new Option('-r <transport>', 'what sessions go by; the same on both sides')
      .choices(['rdma', 'tcp'])
      .default('rdma'),
    numberOption(
      '-w <portals>',
      'threads of the server, to which it sends sessions in turn; 0: it answers by itself',
      0,
      MAX_THREADS,
    ).default(0),
    numberOption(
      '-t <us>',
      'µs that this side looks for what comes before it sleeps (default: VERBENA_SPIN)',
      0,
      MAX_SPIN_US,
    ),
    numberOption(
      '-q <depth>',
      'requests under way at a time in each thread (default: 1 for latency, 50 for bandwidth)',
      1,
      MAX_DEPTH,
    ),
    new Option('-s <sizes>', 'bytes, such as 64 or 64,4k,1m (default: doubling from 1 to 1 MiB)').argParser(sizes),
    new Option('-o <file>', 'write the figures there as well, a line for each size'),
    new Option('--seconds <n>', 'how long each size is measured').argParser(seconds).default(1),
    new Option('--warm-up <n>', 'seconds of each size that do not count, before').argParser(seconds).default(0.2),
    new Option('--json', 'print one JSON object at the end'),
  ];
  for (const option of options) command.addOption(option);
  return withHosting(command, 'the one that the server calls for, else VERBENA_ADDR, or a free loopback address');
}

export interface Request {
  /** Undefined: be the server. */
  readonly server: string | undefined;
  readonly test: XioTest;
  readonly sizes: readonly number[];
  readonly depth: number;
}

/** @param given a test, or the server, or both. @throws ToolError for what cannot be */
export function requestOf(given: readonly string[], { q, s, n }: XioPerfFlags): Request {
  // Other tools of the field have the server last, or first.
  const isTurned = given.length === 2 && testOf(given[0]) === undefined && testOf(given[1]) !== undefined;
  const words = isTurned ? [given[1], given[0]] : given;
  const [first] = words;
  const named = words.length === 0 ? undefined : testOf(first);
  if (words.length === 2 && named === undefined)
    throw new ToolError(`There is no test '${first}'; there are ${XIO_TESTS.map(({ name }) => name).join(', ')}.`);
  const server = named === undefined ? first : words.at(1);
  const [preset] = XIO_TESTS;
  const test = named ?? preset;
  const request = { server, test, sizes: s ?? DEFAULT_SIZES, depth: q ?? test.depth };
  const memory = n * request.depth * Math.max(...request.sizes);
  if (memory > MAX_MEMORY)
    throw new ToolError(
      `${n} x ${request.depth} requests of ${Math.max(...request.sizes)} bytes take too much memory.`,
    );
  return request;
}
