/** The bench as data: sections of rows, each of which says how it is measured. */
import type { Effort, Measurement } from '../measure/measurement.js';
import type { LinkKind, Way } from '../measure/rdma.js';
import type { Tool } from '../measure/tool.js';
import type { Rounds } from '../measure/ucx.js';

export type Unit = 'µs' | 'ms' | 'GB/s' | '10^6/s' | '1/s' | 'B' | 'KiB' | '%' | 'of a fair share';

export interface Row {
  /** By which aims and plots find it: parts with dots between, as `write.65536.inline.udp`. */
  readonly id: string;
  readonly what: string;
  readonly unit: Unit;
  readonly measure: () => Promise<Measurement>;
  /** What must be installed. */
  readonly needs?: Tool;
  /** Why this machine cannot measure it. */
  readonly problem?: string | undefined;
}

export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** How much is measured, of everything. */
export interface Extent {
  readonly effort: Effort;
  /** Runs of a program that reports one figure a run. */
  readonly times: number;
  /** Rounds of such a program that take about as long as a stretch, of so many bytes, when `perSecond` are expected. */
  readonly rounds: (perSecond: number) => Rounds;
  readonly latencyBytes: readonly number[];
  readonly echoBytes: readonly number[];
  readonly bandwidthBytes: readonly number[];
  readonly qpCounts: readonly number[];
  readonly qpCostCounts: readonly number[];
  readonly senders: readonly number[];
  readonly idleSeconds: number;
  readonly verbBytes: readonly number[];
  readonly herdWindows: readonly number[];
  readonly putPercents: readonly number[];
  readonly storeBytes: readonly number[];
  readonly requestBytes: readonly number[];
  readonly capturePackets: number;
}

export type SectionMaker = (extent: Extent) => Section;

/** The ways between two NICs of one machine; rows of ours exist for each. */
export const LINKS: readonly LinkKind[] = ['udp', 'shm'];

const LINK_NAMES: Readonly<Record<LinkKind, string>> = { udp: 'UDP', shm: 'shared memory' };

/** A way with the parts that ids and titles are made of. */
export interface NamedWay extends Way {
  readonly id: string;
  readonly name: string;
}

/** All of them: inline and threaded, over each link. */
export const WAYS: readonly NamedWay[] = LINKS.flatMap((link) =>
  (['inline', 'thread'] as const).map((host) => ({
    host,
    link,
    id: `${host}.${link}`,
    name: `${host}, ${LINK_NAMES[link]}`,
  })),
);

const KIB = 1024;

/** Bytes as one says them: `64 B`, `64 KiB`, `8 MiB`. */
export function bytesName(bytes: number): string {
  if (bytes < 4 * KIB) return `${bytes} B`;
  return bytes < KIB * KIB ? `${bytes / KIB} KiB` : `${bytes / KIB / KIB} MiB`;
}
