import { type Command, InvalidArgumentError, Option } from 'commander';
import type { KvMode } from '../../../entry/kv.js';
import { type HostingOptions, wholeNumber, withHosting, numberOption } from '../../kit/options.js';
import {
  clusterOption,
  etcdOfClients,
  oneSidedOption,
  type ReachFlags,
  connectTimeoutOption,
  serverOption,
  transportOption,
} from '../common/reach.js';
import type { ServerPlace } from '../common/server-place.js';

export interface ValueSizes {
  readonly least: number;
  readonly most: number;
}

/** The options of `kv bench`. */
export interface BenchFlags extends HostingOptions {
  readonly server?: readonly ServerPlace[];
  readonly etcd?: readonly string[];
  readonly cluster: string;
  readonly transport: ReachFlags['transport'];
  readonly oneSided?: true;
  readonly connectTimeout?: number;
  readonly mode: KvMode;
  readonly memory: string;
  readonly keys: number;
  readonly zipf?: number;
  readonly put: number;
  readonly valueSize: ValueSizes;
  readonly window: readonly number[];
  readonly clients: number;
  readonly seconds: number;
  readonly warmUp: number;
  readonly seed?: number;
  readonly fill: boolean;
  readonly plot?: string;
  readonly json?: true;
}

const THETA = 0.99;
const MAX_WINDOW = 1024;
const MAX_VALUE = 1 << 20;

function windows(text: string): readonly number[] {
  return text.split(',').map(wholeNumber(1, MAX_WINDOW));
}

function valueSizes(text: string): ValueSizes {
  const [least, most = least] = text.split('-').map(wholeNumber(0, MAX_VALUE));
  if (least > most) throw new InvalidArgumentError('Give the least first, as in 16-1024.');
  return { least, most };
}

function share(text: string): number {
  const value = Number(text);
  if (text !== '' && value >= 0 && value <= 100) return value;
  throw new InvalidArgumentError('Give a percentage, 0 to 100.');
}

function theta(text: string): number {
  const value = Number(text);
  if (value > 0 && value < 1) return value;
  throw new InvalidArgumentError('Give an exponent between 0 and 1, such as 0.99.');
}

export const sizesText = ({ least, most }: ValueSizes): string => (least === most ? `${least}` : `${least}-${most}`);

export function withBenchOptions(command: Command): Command {
  command
    .addOption(serverOption('one of its own'))
    .addOption(etcdOfClients())
    .addOption(clusterOption())
    .addOption(transportOption())
    .addOption(connectTimeoutOption())
    .addOption(oneSidedOption())
    .addOption(numberOption('-c, --clients <n>', 'clients, each with a connection of its own', 1, 10_000, 1))
    .addOption(
      new Option('-w, --window <n,...>', 'requests of each client that are under way; of several, one run each')
        .argParser(windows)
        .default([1, 4, 16], '1,4,16'),
    )
    .addOption(numberOption('-n, --keys <n>', 'how many there are', 1, 100_000_000, 100_000))
    .addOption(
      new Option('--zipf [theta]', 'choose keys by Zipf’s law, with that exponent (default: 0.99); else uniformly')
        .argParser(theta)
        .preset(String(THETA)),
    )
    .addOption(
      new Option('--put <percent>', 'requests that set a value; the others get one').argParser(share).default(5),
    )
    .addOption(
      new Option('--value-size <bytes>', 'of values: one, or from one to another, as in 16-1024')
        .argParser(valueSizes)
        .default({ least: 32, most: 32 }, '32'),
    )
    .addOption(numberOption('-t, --seconds <n>', 'that each run is measured', 1, 86_400, 5))
    .addOption(numberOption('--warm-up <seconds>', 'before each run is measured', 0, 3600, 1))
    .option('--no-fill', 'do not set all keys before')
    .addOption(
      new Option('--seed <n>', 'repeats the choice of keys (default: any)').argParser(wholeNumber(0, 2 ** 32 - 1)),
    )
    .addOption(
      new Option('--mode <mode>', 'of its own store')
        .choices(['cache', 'store'] satisfies readonly KvMode[])
        .default('cache'),
    )
    .option('--memory <bytes>', 'of its own store', '256M')
    .option('--plot <file>', 'write latency over throughput, a point for each window, as SVG')
    .option('--json', 'print one JSON object at the end');
  return withHosting(command, 'the one that --server calls for, else VERBENA_ADDR, or a free loopback address');
}
