/** Where files were made that do not tell which of their packets were sent there and which received, as those of tcpdump. */
import { nameOf, type Sighting } from './sighting.js';

/** A file that is taken for what was seen at an address, since another one shows the same traffic from the other side. */
export interface Placement {
  readonly file: number;
  readonly name?: string;
  readonly at: string;
}

/** What files saw of the traffic between two addresses. */
interface Pair {
  readonly ends: readonly [string, string];
  readonly byFile: Map<number, Sighting[]>;
}

function pairsOf(sightings: readonly Sighting[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const sighting of sightings) {
    const { source, destination, file } = sighting;
    const ends: [string, string] = source < destination ? [source, destination] : [destination, source];
    const name = ends.join(' ');
    let pair = pairs.get(name);
    if (pair === undefined) {
      pair = { ends, byFile: new Map<number, Sighting[]>() };
      pairs.set(name, pair);
    }
    const seen = pair.byFile.get(file);
    if (seen === undefined) pair.byFile.set(file, [sighting]);
    else seen.push(sighting);
  }
  return [...pairs.values()];
}

const vantageOf = ({ direction, source, destination }: Sighting): string | undefined =>
  direction === undefined ? undefined : direction === 'out' ? source : destination;

/** Whole datagrams as they first came by; repeats and copies of it come later. */
function firstSeen(sightings: readonly Sighting[]): Map<string, Sighting> {
  const first = new Map<string, Sighting>();
  for (const sighting of sightings) {
    if (sighting.damaged) continue;
    const name = `${sighting.source} ${nameOf(sighting)}`;
    if (!first.has(name)) first.set(name, sighting);
  }
  return first;
}

function median(numbers: number[]): number | undefined {
  if (numbers.length === 0) return undefined;
  return numbers.sort((a, b) => a - b)[numbers.length >> 1];
}

/** Whether the first file is nearer the first end than the second one is. */
function isNearer(end: string, one: readonly Sighting[], other: readonly Sighting[]): boolean {
  const [first, second] = [firstSeen(one), firstSeen(other)];
  const laterUs: Record<'from' | 'to', number[]> = { from: [], to: [] };
  let missed = 0;
  const vote = (sighting: Sighting): number => (sighting.source === end ? 1 : -1);
  for (const [name, sighting] of first) {
    const same = second.get(name);
    if (same === undefined) missed += vote(sighting);
    else laterUs[sighting.source === end ? 'from' : 'to'].push(same.timeUs - sighting.timeUs);
  }
  for (const [name, sighting] of second) if (!first.has(name)) missed -= vote(sighting);
  // What one clock is ahead of the other is in both; what is left is the way there and back.
  const [from, to] = [median(laterUs.from), median(laterUs.to)];
  if (from !== undefined && to !== undefined && from !== to) return from > to;
  return missed >= 0;
}

/** Says of sightings of a file without directions at which end they were made. */
function placeAt(end: string, sightings: readonly Sighting[]): void {
  for (const sighting of sightings) {
    sighting.direction = sighting.source === end ? 'out' : 'in';
    sighting.placed = true;
  }
}

/**
 * Gives directions to files that have none, where others show the same traffic: those then are the other side's. What tells
 * nothing that others do not tell is left out.
 */
export function placeFiles(
  sightings: readonly Sighting[],
  anEmptyFile: boolean,
): { readonly kept: Sighting[]; readonly placements: readonly Placement[] } {
  const placements = new Map<string, Placement>();
  const superfluous = new Set<Sighting>();
  const put = (file: number, at: string, seen: readonly Sighting[]): void => {
    placeAt(at, seen);
    placements.set(`${file} ${at}`, { file, at });
  };
  for (const { ends, byFile } of pairsOf(sightings)) {
    const vantages = new Set([...byFile.values()].flat().map(vantageOf));
    const undirected = [...byFile].filter(([, seen]) => seen.every(({ direction }) => direction === undefined));
    const free = ends.filter((end) => !vantages.has(end));
    if (free.length === 2 && undirected.length === 1) {
      const [[file, seen]] = undirected;
      const [sender, ...others] = new Set(seen.map(({ source }) => source));
      if (anEmptyFile && others.length === 0) put(file, sender, seen);
      continue;
    }
    const needed = undirected.slice(0, free.length);
    if (needed.length === 2 && !isNearer(free[0], needed[0][1], needed[1][1])) needed.reverse();
    needed.forEach(([file, seen], i) => {
      put(file, free[i], seen);
    });
    for (const [, seen] of undirected.slice(free.length)) for (const sighting of seen) superfluous.add(sighting);
  }
  return {
    kept: sightings.filter((sighting) => !superfluous.has(sighting)),
    placements: [...placements.values()],
  };
}
