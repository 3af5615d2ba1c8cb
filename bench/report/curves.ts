/** The bench's results as curves: one for each thing that was measured at several sizes. */
import { type Curve, MESSAGE_SIZES, type Plot } from '../../src/apps/cli/shared/plot.js';

/** What of a result is drawn. */
export interface Drawable {
  /** `KIND.BYTES.WHO`. */
  readonly id: string;
  readonly what: string;
  readonly median: number;
}

/** The plots there are, by the first part of ids. */
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
};

/** The curves of one kind, in the order of the results. */
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
