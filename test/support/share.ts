/**
 * The share of a long test that a run plays. `npm test` plays a third, `npm test -- --tier rest` the other two; every other run
 * plays all. So a commit waits less, and CI plays as much as one run of all would.
 */
const VARIABLE = 'VERBENA_TEST_SHARE';
const PARTS = 3;

type Share = 'first' | 'rest' | 'all';

function shareAsked(): Share {
  const share = process.env[VARIABLE] ?? 'all';
  if (share === 'first' || share === 'rest' || share === 'all') return share;
  throw new Error(`${VARIABLE} is ${share}: set first, rest or all`);
}

/** Those of the cases that this run plays: each third of them, or all others. */
export function shareOf<T>(cases: readonly T[], share: Share = shareAsked()): readonly T[] {
  return share === 'all' ? cases : cases.filter((_, index) => (index % PARTS === 0) === (share === 'first'));
}

/** Those of the seeds from 1 to `count` that this run plays. */
export function seedsOf(count: number, share: Share = shareAsked()): readonly number[] {
  const seeds = Array.from({ length: count }, (_, index) => index + 1);
  const first = Math.ceil(count / PARTS);
  return share === 'all' ? seeds : share === 'first' ? seeds.slice(0, first) : seeds.slice(first);
}

export interface SeedRange {
  readonly first: number;
  readonly last: number;
  readonly seeds: readonly number[];
}

/** The same, in ranges of at most `most` seeds. */
export function seedRanges(count: number, most: number, share: Share = shareAsked()): readonly SeedRange[] {
  const all = seedsOf(count, share);
  const ranges: SeedRange[] = [];
  for (let at = 0; at < all.length; at += most) {
    const seeds = all.slice(at, at + most);
    ranges.push({ first: seeds[0], last: seeds[seeds.length - 1], seeds });
  }
  return ranges;
}
