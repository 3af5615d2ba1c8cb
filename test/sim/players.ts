import { Worker } from 'node:worker_threads';
import type { Play, Played } from './play.js';

/**
 * Plays runs on threads.
 *
 * @param jobs how many threads
 * @param onPlayed hears what has been played since it heard last; false lets no further run begin
 * @throws what a thread threw outside of its runs
 */
export async function playOnThreads(
  work: Omit<Play, 'begun'>,
  jobs: number,
  signal: AbortSignal,
  onPlayed: (played: Played) => boolean,
): Promise<void> {
  const begun = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT));
  const play: Play = { ...work, begun };
  const stop = (): void => void Atomics.store(begun, 0, BigInt(work.runs));
  signal.addEventListener('abort', stop);
  const player = new URL('./player.js', import.meta.url);
  const threads = Array.from({ length: Math.min(jobs, work.runs) }, () => {
    const thread = new Worker(player, { workerData: play });
    // A player says nothing else.
    thread.on('message', (message) => {
      if (!onPlayed(message as Played)) stop();
    });
    return new Promise<void>((resolve, reject) => thread.once('error', reject).once('exit', () => resolve()));
  });
  try {
    await Promise.all(threads);
  } finally {
    stop();
    signal.removeEventListener('abort', stop);
  }
}
