import { SingleBar } from 'cli-progress';

const TICK_MS = 200;

/** Shows, on a terminal alone, how far a size is: on standard error, so that the table goes into a file without it. @returns to be called at its end */
export function showProgress(what: string, totalMs: number): () => void {
  if (!process.stderr.isTTY) return () => undefined;
  const bar = new SingleBar({
    format: '  {bar} {what}',
    stream: process.stderr,
    barsize: 32,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: true,
    stopOnComplete: false,
  });
  const begunMs = performance.now();
  bar.start(totalMs, 0, { what });
  const ticks = setInterval(() => bar.update(performance.now() - begunMs), TICK_MS);
  return () => {
    clearInterval(ticks);
    bar.stop();
  };
}
