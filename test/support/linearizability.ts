/** What somebody did to an object that others use at the same time. */
export interface Deed<S> {
  /** When it was begun, and when it was known to be done, in the order of all that happened; Infinity: nobody knows whether it ever was. */
  readonly begun: number;
  readonly done: number;
  /** What comes of a state by it; `IMPOSSIBLE` when it cannot have had the result that it had. */
  readonly apply: (state: S) => S | typeof IMPOSSIBLE;
  /** Whether it never changes anything, whatever the state. */
  readonly reads: boolean;
  /** Deeds that have one, and were done, come in the order of these numbers. */
  readonly rank?: bigint | undefined;
}

export const IMPOSSIBLE: unique symbol = Symbol('impossible');

/** What looking for an order may cost, before it is called off. */
const MOST_STEPS = 2_000_000;

/**
 * Looks for an order in which all deeds, one at a time, have the results that they had, and in which none comes before another that was done when it was
 * begun: that is what linearizable means (Herlihy and Wing, 1990). Deeds of which nobody knows whether they were done may be left out.
 *
 * The search is that of Wing and Gong (1993), which remembers what it has tried, as Lowe (2017) does.
 *
 * @param nameOf says the same of equal states
 * @param byItself what comes of a state at any time without anybody's doing; `IMPOSSIBLE` for nothing
 * @returns whether there is such an order
 * @throws Error when that is too much to find out
 */
export function isLinearizable<S>(
  deeds: readonly Deed<S>[],
  initial: S,
  nameOf: (state: S) => string,
  byItself: (state: S) => S | typeof IMPOSSIBLE = () => IMPOSSIBLE,
): boolean {
  const sorted = [...deeds].sort((a, b) => a.begun - b.begun);
  const required = sorted.reduce((set, { done }, i) => (done === Infinity ? set : set | (1n << BigInt(i))), 0n);
  const tried = new Set<string>();
  const paths: { readonly applied: bigint; readonly state: S }[] = [{ applied: 0n, state: initial }];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const path = paths.pop();
    if (path === undefined) return false;
    const { applied, state } = path;
    if ((applied & required) === required) return true;
    for (const { bit, next, stateName } of moves(sorted, applied, state, { nameOf, byItself })) {
      const name = `${(applied | bit).toString(36)} ${stateName}`;
      if (tried.has(name)) continue;
      tried.add(name);
      paths.push({ applied: applied | bit, state: next });
    }
  }
  throw new Error(`${deeds.length} deeds are too many at the same time to find an order`);
}

/** A deed that may come next, and what comes of it. */
interface Move<S> {
  /** Of the deed; 0n for what happens by itself. */
  readonly bit: bigint;
  readonly next: S;
  readonly stateName: string;
}

interface Rules<S> {
  readonly nameOf: (state: S) => string;
  readonly byItself: (state: S) => S | typeof IMPOSSIBLE;
}

/**
 * What has to be tried next. A deed that must be there and changes nothing, as most readers do, may as well come now as at any later time: then it is the only one. One that may be
 * left out, and would change nothing, is.
 */
function moves<S>(
  sorted: readonly Deed<S>[],
  applied: bigint,
  state: S,
  { nameOf, byItself }: Rules<S>,
): readonly Move<S>[] {
  const before = nameOf(state);
  const found: Move<S>[] = [];
  const alone = byItself(state);
  if (alone !== IMPOSSIBLE) found.push({ bit: 0n, next: alone, stateName: nameOf(alone) });
  for (const i of candidates(sorted, applied)) {
    const { apply, reads, done } = sorted[i];
    const next = apply(state);
    if (next === IMPOSSIBLE) continue;
    const move = { bit: 1n << BigInt(i), next, stateName: nameOf(next) };
    if (move.stateName !== before || (!reads && done < Infinity)) found.push(move);
    else if (done < Infinity) return [move];
  }
  return found;
}

/** Those that may come next: no other that is left was done before they were begun, or has a lower rank. Most promising last. */
function candidates<S>(sorted: readonly Deed<S>[], applied: bigint): number[] {
  const left = [...sorted.keys()].filter((i) => ((applied >> BigInt(i)) & 1n) === 0n);
  const firstRank = left.reduce<bigint | undefined>((least, i) => lesser(least, sorted[i].rank), undefined);
  const found: number[] = [];
  let earliest = Infinity;
  for (const i of left) {
    const { begun, done, rank } = sorted[i];
    if (begun > earliest) break;
    earliest = Math.min(earliest, done);
    if (rank === undefined || rank === firstRank) found.push(i);
  }
  return found.sort((a, b) => sorted[b].done - sorted[a].done);
}

function lesser(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}
