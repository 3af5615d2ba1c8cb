import { createHash, type Hash } from 'node:crypto';
import { type Figures, NOTHING_YET, sumOf } from './game.js';
import { type GameName, gameOf } from './games.js';

export interface Failure {
  readonly seed: number;
  readonly message: string;
}

/** Runs that several threads play, each the next that nobody has taken. */
export interface Play {
  readonly game: GameName;
  /** Steps of walks to take; default all. */
  readonly only: readonly number[] | undefined;
  readonly start: number;
  readonly runs: number;
  /** Whether to take a digest of the trace, which names each packet: it slows the runs down. */
  readonly digest: boolean;
  /** How many runs were begun, in one word that all threads see; `runs` lets none begin any more. */
  readonly begun: BigInt64Array;
}

/** What was played since the last word of it. */
export interface Played {
  readonly runs: number;
  readonly total: Figures;
  readonly failures: readonly Failure[];
  readonly digest?: Digest;
}

export interface Digest {
  /** Lines of the traces: most are packets. */
  readonly lines: number;
  /** SHA-256 of each run's trace, added bit by bit without carry, so that the order of the runs does not matter. */
  readonly bits: bigint;
}

export const sumOfDigests = (a?: Digest, b?: Digest): Digest => ({
  lines: (a?.lines ?? 0) + (b?.lines ?? 0),
  bits: (a?.bits ?? 0n) ^ (b?.bits ?? 0n),
});

/** Plays the run of one seed. @returns what it came to, or why it failed */
export async function playSeed(
  { game, only }: Pick<Play, 'game' | 'only'>,
  seed: number,
  trace?: (line: string) => void,
): Promise<Played> {
  try {
    return { runs: 1, total: await gameOf(game, only).play(seed, trace), failures: [] };
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { runs: 1, total: NOTHING_YET, failures: [{ seed, message }] };
  }
}

const TELL_MS = 200;

/** Plays the run of one seed and takes a digest of its trace and of its figures. */
async function digestSeed(play: Play, seed: number): Promise<Played> {
  const hash: Hash = createHash('sha256').update(`${seed}\n`);
  let lines = 0;
  const played = await playSeed(play, seed, (line) => {
    hash.update(line).update('\n');
    lines += 1;
  });
  hash.update(JSON.stringify(played.total));
  return { ...played, digest: { lines, bits: BigInt(`0x${hash.digest('hex')}`) } };
}

/** Plays until no run is left, and tells now and then what came of it, of a failure at once. */
export async function playAll(play: Play, tell: (played: Played) => void): Promise<void> {
  const nothing: Played = { runs: 0, total: NOTHING_YET, failures: [] };
  let untold = nothing;
  let toldMs = performance.now();
  for (;;) {
    const run = Number(Atomics.add(play.begun, 0, 1n));
    if (run >= play.runs) break;
    const seed = play.start + run;
    const { total, failures, digest } = await (play.digest ? digestSeed(play, seed) : playSeed(play, seed));
    untold = {
      runs: untold.runs + 1,
      total: sumOf(untold.total, total),
      failures,
      ...(digest && { digest: sumOfDigests(untold.digest, digest) }),
    };
    if (failures.length === 0 && performance.now() - toldMs < TELL_MS) continue;
    tell(untold);
    untold = nothing;
    toldMs = performance.now();
  }
  tell(untold);
}
