import { register } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import { games } from './games.js';
import type { GameName } from './mutant.js';
import { LOADED, type Substitute } from './substitute.js';

export interface Attempt {
  readonly game: GameName;
  readonly seeds: readonly number[];
}

/** What a process of its own is to do: to play with one module replaced, until something is wrong. */
export interface Task {
  readonly substitute: Substitute | undefined;
  readonly attempts: readonly Attempt[];
}

export type Outcome =
  | {
      readonly kind: 'found';
      readonly game: GameName;
      readonly seed: number;
      readonly runs: number;
      readonly report: string;
    }
  | { readonly kind: 'passed'; readonly runs: number }
  /** What is played is no mutant of the NIC, or none at all. */
  | { readonly kind: 'broken'; readonly why: string };

/** What it tells: the run that it begins, and in the end what came of all, with the processor time that it took. */
export type Word =
  | { readonly kind: 'begins'; readonly game: GameName; readonly seed: number }
  | { readonly kind: 'ends'; readonly outcome: Outcome; readonly seconds: number };

function say(word: Word): void {
  process.send?.(word);
}

/** A mutant that does not even have names for what it uses is a mistake in the table, and finding it no merit. */
function isMistake(error: unknown): boolean {
  return error instanceof ReferenceError || error instanceof SyntaxError;
}

/** Rejects with what nobody catches: the NIC throws it in a turn of its own, and a program would end by it. */
function uncaught(): Promise<never> {
  const thrown = new Promise<never>((_, reject) => process.on('uncaughtException', reject));
  thrown.catch(() => undefined);
  return thrown;
}

async function play({ substitute, attempts }: Task): Promise<Outcome> {
  const thrown = uncaught();
  if (substitute !== undefined) register('./hooks.js', import.meta.url, { data: substitute });
  let runs = 0;
  for (const { game, seeds } of attempts) {
    const playSeed = await games[game].load();
    if (substitute !== undefined && !(LOADED in globalThis))
      return { kind: 'broken', why: `the game ${game} does not load ${substitute.url}` };
    for (const seed of seeds) {
      say({ kind: 'begins', game, seed });
      // Hears a parent that has gone.
      await turn();
      runs += 1;
      try {
        await Promise.race([playSeed(seed), thrown]);
      } catch (error) {
        const report = error instanceof Error ? error.message : String(error);
        if (isMistake(error)) return { kind: 'broken', why: report };
        return { kind: 'found', game, seed, runs, report };
      }
    }
  }
  return { kind: 'passed', runs };
}

async function outcomeOf(task: Task): Promise<Outcome> {
  try {
    return await play(task);
  } catch (error) {
    return { kind: 'broken', why: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

async function perform(task: Task): Promise<void> {
  const outcome = await outcomeOf(task);
  const { user, system } = process.cpuUsage();
  say({ kind: 'ends', outcome, seconds: (user + system) / 1e6 });
  process.disconnect();
}

process.once('message', (task) => {
  // The parent sends nothing else.
  void perform(task as Task);
});
process.once('disconnect', () => process.exit());
