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
  /** Seed of the first run. */
  readonly start: number;
  readonly runs: number;
  /** How many runs were begun, in one word that all threads see; `runs` lets none begin any more. */
  readonly begun: BigInt64Array;
}

/** What was played since the last word of it. */
export interface Played {
  readonly runs: number;
  readonly total: Figures;
  readonly failures: readonly Failure[];
}

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

/** Plays until no run is left, and tells now and then what came of it, of a failure at once. */
export async function playAll(play: Play, tell: (played: Played) => void): Promise<void> {
  const nothing: Played = { runs: 0, total: NOTHING_YET, failures: [] };
  let untold = nothing;
  let toldMs = performance.now();
  for (;;) {
    const run = Number(Atomics.add(play.begun, 0, 1n));
    if (run >= play.runs) break;
    const { total, failures } = await playSeed(play, play.start + run);
    untold = { runs: untold.runs + 1, total: sumOf(untold.total, total), failures };
    if (failures.length === 0 && performance.now() - toldMs < TELL_MS) continue;
    tell(untold);
    untold = nothing;
    toldMs = performance.now();
  }
  tell(untold);
}
