import type { TransportName } from '../../../entry/kv.js';
import { type Curve, plotSvg, ticksFor } from '../../kit/plot.js';
import type { ServerPlace } from '../common/server-place.js';
import { countText } from '../common/units.js';
import type { Latencies, LoadResult } from './load.js';

/** What was measured, as `--json` has it. */
export interface BenchSetup {
  readonly server?: ServerPlace;
  readonly servers?: readonly ServerPlace[];
  readonly etcd?: readonly string[];
  readonly transport: TransportName;
  /** Whether gets are READs of the server's memory. */
  readonly oneSided: boolean;
  readonly clients: number;
  readonly keys: number;
  readonly distribution: 'uniform' | 'zipf';
  readonly theta: number;
  readonly putPercent: number;
  readonly valueBytes: string;
  readonly seed: number;
}

const perSecond = ({ operations, seconds }: LoadResult): number => (seconds === 0 ? 0 : operations / seconds);

/** What is measured, in two lines. @param store where it is */
export function setupText(setup: BenchSetup, store: string): string {
  const { clients, keys, distribution, theta, putPercent, valueBytes, seed } = setup;
  const chosen = distribution === 'zipf' ? `by Zipf ${theta}` : 'uniformly';
  return `${countText(clients)} client${clients === 1 ? '' : 's'} of ${store} over ${wayText(setup)}
${countText(keys)} keys of 16 bytes chosen ${chosen}, values of ${valueBytes} bytes, ${putPercent} % PUT, seed ${seed}
`;
}

/** How requests travel, and values. */
function wayText({ transport, oneSided }: BenchSetup): string {
  return oneSided ? `${transport}, GET by one-sided READ` : transport;
}

interface Column {
  readonly head: string;
  readonly width: number;
  readonly text: (result: LoadResult) => string;
}

/** Microseconds, by three digits or four. */
const usText = (us: number): string => us.toFixed(us < 100 ? 1 : 0);

const latency = (head: string, of: keyof Latencies): Column => ({
  head,
  width: 9,
  text: ({ latencyUs }) => usText(latencyUs[of]),
});

/** Of gets, how many were READs alone. */
const ONE_SIDED: Column = {
  head: 'read %',
  width: 8,
  text: ({ gets, oneSided }) => (gets === 0 ? '-' : ((100 * oneSided) / gets).toFixed(1)),
};

const COLUMNS: readonly Column[] = [
  { head: 'window', width: 6, text: ({ window }) => String(window) },
  { head: 'requests/s', width: 11, text: (result) => countText(perSecond(result)) },
  latency('p50 µs', 'p50'),
  latency('p90', 'p90'),
  latency('p99', 'p99'),
  latency('p99.9', 'p999'),
  latency('max', 'max'),
  { head: 'found %', width: 8, text: ({ gets, found }) => (gets === 0 ? '-' : ((100 * found) / gets).toFixed(1)) },
  { head: 'repeats', width: 8, text: ({ repeats }) => countText(repeats) },
];

const lineOf = ({ oneSided }: BenchSetup, text: (column: Column) => string): string =>
  `${(oneSided ? [...COLUMNS, ONE_SIDED] : COLUMNS).map((column) => text(column).padStart(column.width)).join('  ')}\n`;

export const headText = (setup: BenchSetup): string => lineOf(setup, ({ head }) => head);
export const resultText = (setup: BenchSetup, result: LoadResult): string => lineOf(setup, ({ text }) => text(result));

/** The whole as JSON. @param isInterrupted whether the last result, or all that would follow, is cut off */
export function benchFacts(setup: BenchSetup, results: readonly LoadResult[], isInterrupted: boolean): object {
  const facts = results.map((result) => ({ ...result, operationsPerSecond: Math.round(perSecond(result)) }));
  return { tool: 'kv bench', ...setup, interrupted: isInterrupted, results: facts };
}

const CURVES = [
  ['median', 'p50'],
  ['99th percentile', 'p99'],
] as const;

/** Latency over throughput, a point for each window; undefined when nothing was measured. */
export function benchPlot(setup: BenchSetup, results: readonly LoadResult[]): string | undefined {
  const curves = CURVES.map(([name, of]): Curve => ({
    name,
    points: results.map((result) => [perSecond(result), result.latencyUs[of], String(result.window)] as const),
  }));
  const { clients, putPercent } = setup;
  return plotSvg({
    title: `Latency over throughput: ${countText(clients)} client${clients === 1 ? '' : 's'}, ${wayText(setup)}, ${putPercent} % PUT`,
    unit: 'µs',
    x: { label: 'requests a second, logarithmic; the points are windows', ticks: ticksFor, text: countText },
    curves,
  });
}
