import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { games } from './games.js';
import type { GameName, Mutant } from './mutant.js';
import type { Attempt, Outcome, Task, Word } from './player.js';
import { substituteFor } from './transpile.js';

/** What came of a mutant, or of the NIC as it is, and the processor time that it took. */
export type Verdict = Outcome & { readonly seconds: number };
export type Found = Extract<Verdict, { readonly kind: 'found' }>;

/** A run takes a fraction of a second; one that takes this long has no end. */
const PATIENCE_MS = 120_000;

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

export function attemptsOf({ games: names }: Pick<Mutant, 'games'>): Attempt[] {
  return names.map((game) => ({ game, seeds: range(games[game].seeds) }));
}

/** What a player has told so far. */
interface Heard {
  end?: Extract<Word, { readonly kind: 'ends' }>;
  last?: { readonly game: GameName; readonly seed: number };
  runs: number;
  late: boolean;
  complaint: string;
}

/** Plays in a process of its own, until something is wrong. */
export async function perform(task: Task, signal?: AbortSignal): Promise<Verdict> {
  signal?.throwIfAborted();
  const startMs = performance.now();
  const child = fork(fileURLToPath(new URL('./player.js', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: ['--enable-source-maps', '--no-warnings'],
  });
  const heard: Heard = { runs: 0, late: false, complaint: '' };
  const stop = (): void => void child.kill('SIGKILL');
  signal?.addEventListener('abort', stop);
  const timer = setTimeout(() => {
    heard.late = true;
    stop();
  }, PATIENCE_MS);
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (heard.complaint += text));
  child.on('message', (message) => {
    timer.refresh();
    // A player says nothing else.
    const word = message as Word;
    if (word.kind === 'begins') {
      heard.last = word;
      heard.runs += 1;
    } else heard.end = word;
  });
  child.send(task);
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  clearTimeout(timer);
  signal?.removeEventListener('abort', stop);
  signal?.throwIfAborted();
  const seconds = (performance.now() - startMs) / 1000;
  const { end, last, runs, late, complaint } = heard;
  if (end !== undefined) return { ...end.outcome, seconds: end.seconds };
  if (late && last !== undefined) {
    const report = `a run that has not ended after ${PATIENCE_MS / 1000} s`;
    return { kind: 'found', game: last.game, seed: last.seed, runs, seconds, report };
  }
  return { kind: 'broken', seconds, why: `the process ended with ${String(code)}: ${complaint}` };
}

/** Looks for a mutant by all games that should find it. */
export async function hunt(mutant: Mutant, signal?: AbortSignal): Promise<Verdict> {
  const startMs = performance.now();
  try {
    return await perform({ substitute: substituteFor(mutant), attempts: attemptsOf(mutant) }, signal);
  } catch (error) {
    signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    return { kind: 'broken', why, seconds: (performance.now() - startMs) / 1000 };
  }
}
