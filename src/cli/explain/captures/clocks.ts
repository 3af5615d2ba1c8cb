/** One clock for several files: the clocks that wrote them may differ. */
import { Direction, type PacketTable } from '../../../device/wire/index.js';
import type { CaptureFile } from './capture-file.js';
import { RowIndex } from './row-index.js';

/** The files of a group. */
type Group = readonly CaptureFile[];

/** Packets of a group as they first left or arrived. */
function firstSeen(group: Group, table: PacketTable, direction: Direction): { index: RowIndex; rows: Uint32Array } {
  const packets = group.reduce((sum, { begin, endRow }) => sum + endRow - begin, 0);
  const index = new RowIndex(table, packets);
  const rows = new Uint32Array(packets);
  let n = 0;
  for (const { begin, endRow } of group)
    for (let row = begin; row < endRow; row += 1)
      if (table.direction(row) === direction && index.add(row) === row) rows[n++] = row;
  return { index, rows: rows.subarray(0, n) };
}

/** By how much packets came later than they left, by the clocks of two groups: the least. */
function leastDelay(left: Group, came: Group, table: PacketTable): number {
  const departures = firstSeen(left, table, Direction.OUT).index;
  let least = Infinity;
  for (const row of firstSeen(came, table, Direction.IN).rows) {
    const departure = departures.find(row);
    if (departure >= 0) least = Math.min(least, table.timeNs(row) - table.timeNs(departure));
  }
  return least;
}

/**
 * What is to be added to the times of a group so that nothing arrives before it was sent.
 *
 * @param shiftNs the same by the two clocks, which may be right
 */
function causal(origin: Group, group: Group, table: PacketTable, shiftNs: number): number {
  const least = -leastDelay(origin, group, table);
  const most = leastDelay(group, origin, table);
  if (shiftNs >= least && shiftNs <= most) return shiftNs;
  if (least === -Infinity) return most;
  return most === Infinity ? least : (least + most) / 2;
}

/**
 * Makes all times count from the first frame of the earliest file: by the clocks of the hosts, and where these contradict each
 * other, by the packets that both saw.
 */
export function alignClocks(files: readonly CaptureFile[], table: PacketTable): void {
  const groups = new Map<number, CaptureFile[]>();
  for (const file of files) if (file.frames > 0) groups.set(file.group, [...(groups.get(file.group) ?? []), file]);
  const [origin, ...others] = groups.values();
  if (others.length === 0) return;
  const shifts = others.map((group) => causal(origin, group, table, group[0].nsSince(origin[0])));
  const earliest = Math.min(0, ...shifts);
  for (const [i, group] of [origin, ...others].entries()) {
    const shiftNs = (i === 0 ? 0 : shifts[i - 1]) - earliest;
    for (const file of group) {
      file.shiftNs += shiftNs;
      if (shiftNs !== 0) table.shift(file.begin, file.endRow, shiftNs);
    }
  }
}
