import { SingleBar } from 'cli-progress';
import { countText } from '../common/units.js';

/** Shows how far a run is, on a terminal alone. */
export interface BenchProgress {
  begin(what: string, totalMs: number): void;
  at(elapsedMs: number, operations: number): void;
  end(): void;
}

const NONE: BenchProgress = { begin: () => {}, at: () => {}, end: () => {} };

/** On standard error, so that the table goes into a file without it. */
export function benchProgress(): BenchProgress {
  if (!process.stderr.isTTY) return NONE;
  const bar = new SingleBar({
    format: '  {bar} {what}  {operations} requests',
    stream: process.stderr,
    barsize: 32,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: true,
    stopOnComplete: false,
  });
  return {
    begin: (what, totalMs) => bar.start(totalMs, 0, { what, operations: '0' }),
    at: (elapsedMs, operations) => bar.update(elapsedMs, { operations: countText(operations) }),
    end: () => bar.stop(),
  };
}
