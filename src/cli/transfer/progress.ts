import { progressBar } from '../kit/progress.js';
import { amount } from '../kit/output.js';

/** Shows how much has arrived. */
export interface Progress {
  start(): void;
  update(bytes: number): void;
  stop(): void;
}

/** A bar on a terminal; elsewhere a line a quarter, which a log can hold. */
export function showProgress(totalBytes: number): Progress {
  return process.stdout.isTTY ? bar(totalBytes) : lines(totalBytes);
}

/** Shows nothing, for output that programs read. */
export const noProgress: Progress = { start: () => {}, update: () => {}, stop: () => {} };

function bar(totalBytes: number): Progress {
  let started = 0;
  const shown = progressBar('{percentage} %  {done} of {all}  {rate}', process.stdout, false);
  const payload = (bytes: number): object => ({
    done: amount(bytes),
    all: amount(totalBytes),
    rate: `${(bytes / 1e6 / Math.max(0.001, (performance.now() - started) / 1000)).toFixed(0)} MB/s`,
  });
  return {
    start: () => {
      started = performance.now();
      shown.start(Math.max(1, totalBytes), payload(0));
    },
    update: (bytes) => shown.at(bytes, payload(bytes)),
    stop: () => shown.stop(),
  };
}

function lines(totalBytes: number): Progress {
  let shown = 0;
  return {
    start: () => {},
    update: (bytes) => {
      const quarter = totalBytes === 0 ? 4 : Math.floor((bytes * 4) / totalBytes);
      if (quarter <= shown) return;
      shown = quarter;
      process.stdout.write(`  ${quarter * 25} %  ${amount(bytes)} of ${amount(totalBytes)}\n`);
    },
    stop: () => {},
  };
}
