/** Where files were made that do not tell which of their packets were sent there and which received, as those of tcpdump. */
import { Direction, PacketBit, type PacketTable } from '../../../device/wire/index.js';
import { type CaptureFile, keyOf } from './capture-file.js';
import { RowIndex } from './row-index.js';

/** A file that is taken for what was seen at an address, since another one shows the same traffic from the other side. */
export interface Placement {
  readonly name: string;
  readonly at: string;
}

/** What a group of files has of the traffic between two addresses. */
interface View {
  readonly group: number;
  readonly flows: Set<number>;
  readonly senders: Set<string>;
  packets: number;
  /** Some packets have directions. */
  isDirected: boolean;
  readonly vantages: Set<string>;
  /** Packets of each direction. */
  readonly counts: Uint32Array;
}

/** Values of a direction. */
const DIRECTIONS = 3;

interface Pair {
  readonly ends: readonly [string, string];
  readonly views: Map<number, View>;
}

/** What groups have of each pair of addresses. */
function pairsOf(files: readonly CaptureFile[], table: PacketTable): Pair[] {
  const { flows } = table;
  const pairs = new Map<string, Pair>();
  const views = new Map<number, View>();
  const viewOf = (group: number, flow: number): View => {
    const [source, destination] = [flows.source(flow), flows.destination(flow)];
    const ends: [string, string] = source < destination ? [source, destination] : [destination, source];
    const name = ends.join(' ');
    const pair = pairs.get(name) ?? { ends, views: new Map<number, View>() };
    pairs.set(name, pair);
    const view = pair.views.get(group) ?? {
      group,
      flows: new Set<number>(),
      senders: new Set<string>(),
      packets: 0,
      isDirected: false,
      vantages: new Set<string>(),
      counts: new Uint32Array(DIRECTIONS),
    };
    pair.views.set(group, view);
    view.flows.add(flow);
    view.senders.add(source);
    return view;
  };
  for (const { group, begin, endRow } of files)
    for (let row = begin; row < endRow; row += 1) {
      const flow = table.flow(row);
      const key = keyOf(group, flow);
      let view = views.get(key);
      if (view === undefined) views.set(key, (view = viewOf(group, flow)));
      view.packets += 1;
      const direction = table.direction(row);
      view.counts[direction] += 1;
      if (direction === Direction.UNKNOWN) continue;
      view.isDirected = true;
      view.vantages.add(direction === Direction.OUT ? flows.source(flow) : flows.destination(flow));
    }
  for (const pair of pairs.values()) for (const view of pair.views.values()) forgetDirections(files, table, view);
  return [...pairs.values()];
}

/**
 * Packets of both ends that all came in say nothing of where they were captured: tcpdump leaves out what the loopback interface
 * sends. So do packets that all went out.
 */
function forgetDirections(files: readonly CaptureFile[], table: PacketTable, view: View): void {
  const { senders, counts, group, flows, vantages } = view;
  if (senders.size < 2 || counts[Direction.IN] > 0 === counts[Direction.OUT] > 0) return;
  for (const file of files)
    if (file.group === group)
      for (let row = file.begin; row < file.endRow; row += 1)
        if (flows.has(table.flow(row))) table.setDirection(row, Direction.UNKNOWN);
  view.isDirected = false;
  vantages.clear();
}

function median(numbers: number[]): number | undefined {
  if (numbers.length === 0) return undefined;
  return numbers.sort((a, b) => a - b)[numbers.length >> 1];
}

/** Packets whose times are compared. */
const MAX_COMPARED = 10_000;

class Comparison {
  constructor(
    private readonly files: readonly CaptureFile[],
    private readonly table: PacketTable,
  ) {}

  /** Whether the first view was made nearer to an end than the second one. */
  isNearer(end: string, one: View, other: View): boolean {
    const { table } = this;
    const [first, second] = [this.#firstSeen(one), this.#firstSeen(other)];
    const laterNs: Record<'from' | 'to', number[]> = { from: [], to: [] };
    let missed = 0;
    const isFrom = (row: number): boolean => table.flows.source(table.flow(row)) === end;
    const vote = (row: number): number => (isFrom(row) ? 1 : -1);
    for (const row of first.rows) {
      const same = second.index.find(row);
      if (same < 0) missed += vote(row);
      else {
        const list = isFrom(row) ? laterNs.from : laterNs.to;
        if (list.length < MAX_COMPARED) list.push(table.timeNs(same) - table.timeNs(row));
      }
    }
    for (const row of second.rows) if (first.index.find(row) < 0) missed -= vote(row);
    // What one clock is ahead of the other is in both; what is left is the way there and back.
    const [from, to] = [median(laterNs.from), median(laterNs.to)];
    if (from !== undefined && to !== undefined && from !== to) return from > to;
    return missed >= 0;
  }

  /** Whole packets as they first came by; repeats and copies come later. */
  #firstSeen(view: View): { readonly index: RowIndex; readonly rows: Uint32Array } {
    const { table } = this;
    const index = new RowIndex(table, view.packets);
    const rows = new Uint32Array(view.packets);
    let n = 0;
    for (const { group, begin, endRow } of this.files) {
      if (group !== view.group) continue;
      for (let row = begin; row < endRow; row += 1)
        if (view.flows.has(table.flow(row)) && !isDamaged(table, row) && index.add(row) === row) rows[n++] = row;
    }
    return { index, rows: rows.subarray(0, n) };
  }
}

const isDamaged = (table: PacketTable, row: number): boolean => (table.bits(row) & PacketBit.WRONG_ICRC) !== 0;

/** Placements, and by group and flow: those that have assumed places, and those whose rows tell nothing that others do not tell. */
interface Placed {
  readonly placements: readonly Placement[];
  readonly placed: readonly number[];
  readonly dropped: readonly number[];
}

/** Gives directions to files that have none, where others show the same traffic: those then are the other side's. */
export function placeFiles(files: readonly CaptureFile[], table: PacketTable, anEmptyFile: boolean): Placed {
  const placements = new Map<string, Placement>();
  const placed: number[] = [];
  const dropped: number[] = [];
  const comparison = new Comparison(files, table);
  const put = (view: View, at: string): void => {
    const members = files.filter(({ group, endRow, begin }) => group === view.group && endRow > begin);
    for (const file of members) {
      placements.set(`${file.name} ${at}`, { name: file.name, at });
      for (let row = file.begin; row < file.endRow; row += 1) {
        const flow = table.flow(row);
        if (!view.flows.has(flow)) continue;
        table.setDirection(row, table.flows.source(flow) === at ? Direction.OUT : Direction.IN);
      }
    }
    for (const flow of view.flows) placed.push(keyOf(view.group, flow));
  };
  for (const { ends, views } of pairsOf(files, table)) {
    const all = [...views.values()];
    const vantages = new Set(all.flatMap((view) => [...view.vantages]));
    const undirected = all.filter(({ isDirected }) => !isDirected);
    const free = ends.filter((end) => !vantages.has(end));
    if (free.length === 2 && undirected.length === 1) {
      const [view] = undirected;
      const [sender, ...others] = view.senders;
      if (anEmptyFile && others.length === 0) put(view, sender);
      continue;
    }
    const needed = undirected.slice(0, free.length);
    if (needed.length === 2 && !comparison.isNearer(free[0], needed[0], needed[1])) needed.reverse();
    needed.forEach((view, i) => {
      put(view, free[i]);
    });
    for (const view of undirected.slice(free.length))
      for (const flow of view.flows) dropped.push(keyOf(view.group, flow));
  }
  return { placements: [...placements.values()], placed, dropped };
}
