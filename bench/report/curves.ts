/** The bench's results as curves: one for each thing that was measured at several sizes. */
import { type Axis, type Curve, MESSAGE_SIZES, type Plot } from '../../src/cli/kit/plot.js';

export interface Drawable {
  /** `KIND.BYTES.WHO`. */
  readonly id: string;
  readonly what: string;
  readonly median: number;
}

/** Numbers that were measured, each as it is. */
const numbers = (label: string): Axis => ({
  label: `${label}, logarithmic`,
  ticks: (values) => [...new Set(values)].sort((a, b) => a - b),
  text: String,
});

/** HERD's figures over each link, and the store over each way. */
function herdPlots(): typeof PLOTS {
  const plots: Record<string, Omit<Plot, 'curves'> & { readonly file: string }> = {};
  for (const link of ['udp', 'shm']) {
    const over = link === 'udp' ? 'UDP' : 'shared memory';
    plots[`verbs-${link}`] = {
      file: `herd-verbs-${link}.svg`,
      title: `Verbs by transport, one way, ${over}`,
      unit: '10^6/s',
      x: MESSAGE_SIZES,
    };
    plots[`echoes-${link}`] = {
      file: `herd-echoes-${link}.svg`,
      title: `Echo of 32 B by verbs, ${over}`,
      unit: '10^6/s',
      x: numbers('messages at a time'),
    };
  }
  for (const way of ['inline-udp', 'inline-shm', 'thread-shm'])
    for (const [by, x] of [
      ['put', numbers('percent of PUT')],
      ['size', MESSAGE_SIZES],
    ] as const) {
      const title = `The store beside GETs by READ, ${way.replace('-', ', ')}`;
      plots[`store-${by}-${way}`] = { file: `herd-store-${by}-${way}.svg`, title, unit: '1/s', x };
      plots[`store-latency-${by}-${way}`] = { file: `herd-latency-${by}-${way}.svg`, title, unit: 'µs', x };
    }
  return plots;
}

export const PLOTS: Readonly<Record<string, Omit<Plot, 'curves'> & { readonly file: string }>> = {
  latency: {
    file: 'latency.svg',
    title: 'Latency over size, one way between two processes',
    unit: 'µs',
    x: MESSAGE_SIZES,
  },
  write: {
    file: 'bandwidth.svg',
    title: 'Bandwidth over size, one way between two processes',
    unit: 'GB/s',
    x: MESSAGE_SIZES,
  },
  ...herdPlots(),
};

export function curvesOf(kind: string, results: readonly Drawable[]): readonly Curve[] {
  const curves = new Map<string, { name: string; points: (readonly [number, number])[] }>();
  for (const { id, what, median } of results) {
    const [first, bytes, ...who] = id.split('.');
    if (first !== kind) continue;
    const key = who.join('.');
    const curve = curves.get(key) ?? { name: what, points: [] };
    curve.points.push([Number(bytes), median]);
    curves.set(key, curve);
  }
  return [...curves.values()];
}
