import type { Figures } from './figures.js';

const MIB = 1 << 20;

interface Column {
  readonly head: string;
  readonly width: number;
  readonly text: (figures: Figures) => string;
}

const column = (head: string, width: number, text: Column['text']): Column => ({ head, width, text });

/** Those of Accelio's tools; a MB is 2^20 bytes. */
const COLUMNS: readonly Column[] = [
  column('#bytes', 10, ({ bytes }) => String(bytes)),
  column('#threads', 10, ({ threads }) => String(threads)),
  column('#TPS', 12, ({ perSecond }) => perSecond.toFixed(0)),
  column('BW average[MBps]', 18, ({ bytes, perSecond }) => ((bytes * perSecond) / MIB).toFixed(2)),
  column('Latency average[usecs]', 24, ({ latencyUs }) => latencyUs.mean.toFixed(2)),
  column('low', 10, ({ latencyUs }) => latencyUs.low.toFixed(2)),
  column('peak', 12, ({ latencyUs }) => latencyUs.peak.toFixed(2)),
];

const lineOf = (text: (column: Column) => string): string =>
  `${COLUMNS.map((one) => text(one).padEnd(one.width))
    .join(' ')
    .trimEnd()}\n`;

export const headText = (): string => lineOf(({ head }) => head);
export const rowText = (figures: Figures): string => lineOf(({ text }) => text(figures));

/** What -o writes: a line for each size; Mbps are 10^6 bits a second. */
export function fileText(rows: readonly Figures[]): string {
  const lines = rows.map(({ bytes, threads, perSecond, latencyUs }) =>
    [bytes, threads, perSecond.toFixed(0), ((bytes * perSecond * 8) / 1e6).toFixed(2), latencyUs.mean.toFixed(2)].join(
      ', ',
    ),
  );
  return `${['size, threads, tps, bw[Mbps], lat[usec]', ...lines].join('\n')}\n`;
}
