/** Files that continue each other, as `tcpdump -C` and `dumpcap -b` write them. */
import { Direction, type PacketTable } from '../../../device/wire/index.js';
import type { CaptureFile } from './capture-file.js';
import { RowIndex } from './row-index.js';

/** Packets of the later file that are looked for in the earlier one. */
const SAMPLES = 2048;
/** Two files of the same traffic have more packets in common: retransmissions at the seam are fewer. */
const MOST_COMMON = 0.25;
/** A file begins at most this long before the last packet of the one before. */
const OVERLAP_NS = 1e6;

/** Who is seen in a file. */
interface Seen {
  readonly senders: ReadonlySet<string>;
  /** Where it was made, as far as it tells. */
  readonly vantages: ReadonlySet<string>;
}

function seenIn(table: PacketTable, { begin, endRow }: CaptureFile): Seen {
  const { flows } = table;
  const keys = new Set<number>();
  for (let row = begin; row < endRow; row += 1) keys.add(table.flow(row) * 4 + table.direction(row));
  const senders = new Set<string>();
  const vantages = new Set<string>();
  for (const key of keys) {
    const flow = key >> 2;
    senders.add(flows.source(flow));
    if ((key & 3) !== Direction.UNKNOWN)
      vantages.add((key & 3) === Direction.OUT ? flows.source(flow) : flows.destination(flow));
  }
  return { senders, vantages };
}

/** Whether two files may have been written one after the other, by the same program. */
function mayBeOne(a: Seen, b: Seen): boolean {
  if (![...b.senders].some((sender) => a.senders.has(sender))) return false;
  return a.vantages.size === b.vantages.size && [...a.vantages].every((vantage) => b.vantages.has(vantage));
}

/** The part of a file's packets that an earlier file has as well. */
function inCommon(table: PacketTable, earlier: CaptureFile, later: CaptureFile): number {
  const index = new RowIndex(table, earlier.endRow - earlier.begin);
  for (let row = earlier.begin; row < earlier.endRow; row += 1) index.add(row);
  const rows = later.endRow - later.begin;
  const step = Math.max(1, Math.floor(rows / SAMPLES));
  let [looked, found] = [0, 0];
  for (let row = later.begin; row < later.endRow; row += step) {
    looked += 1;
    if (index.find(row) >= 0) found += 1;
  }
  return found / looked;
}

/**
 * Nanoseconds from the first packet of a file's group to its own; undefined if it shows the same traffic as an earlier file.
 * A file that has nothing in common with it continues it whatever the clocks say.
 */
function offsetAfter(
  table: PacketTable,
  first: CaptureFile,
  earlier: CaptureFile,
  later: CaptureFile,
): number | undefined {
  const lastNs = table.timeNs(earlier.endRow - 1);
  const offsetNs = later.nsSince(first);
  const isLater = offsetNs + table.timeNs(later.begin) >= lastNs - OVERLAP_NS;
  const common = inCommon(table, earlier, later);
  if (isLater) return common <= MOST_COMMON ? offsetNs : undefined;
  return common === 0 ? lastNs - table.timeNs(later.begin) : undefined;
}

/** Gives files that continue each other the same group, and their times the same beginning. */
export function joinSeries(files: readonly CaptureFile[], table: PacketTable): void {
  const series: { readonly first: CaptureFile; last: CaptureFile; seen: Seen }[] = [];
  for (const file of files) {
    file.group = series.length;
    const seen = seenIn(table, file);
    for (const one of series) {
      if (!mayBeOne(one.seen, seen)) continue;
      const offsetNs = offsetAfter(table, one.first, one.last, file);
      if (offsetNs === undefined) continue;
      file.group = one.first.group;
      file.shiftNs = offsetNs;
      table.shift(file.begin, file.endRow, offsetNs);
      one.last = file;
      break;
    }
    if (file.group === series.length) series.push({ first: file, last: file, seen });
  }
}
