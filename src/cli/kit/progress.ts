import { SingleBar } from 'cli-progress';

/** How far something is, where a user can see it: on a terminal. */
export interface ProgressBar {
  /** @param words of the format */
  start(total: number, words: object): void;
  at(done: number, words?: object): void;
  stop(): void;
}

const NONE: ProgressBar = { start: () => {}, at: () => {}, stop: () => {} };

/** A bar with words beside it. @param isPassing whether it vanishes at its end; the output is elsewhere then */
export function progressBar(format: string, stream: NodeJS.WriteStream, isPassing: boolean): ProgressBar {
  if (!stream.isTTY) return NONE;
  const bar = new SingleBar({
    format: `  {bar} ${format}`,
    stream,
    barsize: 32,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    ...(isPassing ? { clearOnComplete: true, stopOnComplete: false } : {}),
  });
  return {
    start: (total, words) => bar.start(total, 0, words),
    at: (done, words) => bar.update(done, words),
    stop: () => bar.stop(),
  };
}
