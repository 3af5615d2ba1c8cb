import { countText, sizeText, type StreamTest } from './tests.js';

/** A test that was played. */
export interface Measured extends StreamTest {
  readonly elapsedUs: number;
}

const HEAD = [
  'name'.padEnd(10),
  'bytes'.padEnd(8),
  'xfers'.padEnd(8),
  'iters'.padEnd(8),
  'total'.padEnd(8),
  `${'time'.padStart(8)} `,
  'Gb/sec'.padStart(10),
  'usec/xfer'.padStart(13),
].join('');

/** The line above the table. */
export function headLine(): string {
  return HEAD;
}

function figures({ sizeBytes, transfers, iterations, elapsedUs }: Measured) {
  const totalBytes = iterations * transfers * sizeBytes * 2;
  return {
    totalBytes,
    gbPerSecond: (totalBytes * 8) / (1000 * elapsedUs),
    usPerTransfer: elapsedUs / iterations / (transfers * 2),
  };
}

/** A line of the table. */
export function measuredLine(measured: Measured): string {
  const { name, sizeBytes, transfers, iterations, elapsedUs } = measured;
  const { totalBytes, gbPerSecond, usPerTransfer } = figures(measured);
  return [
    name.padEnd(10),
    sizeText(sizeBytes).padEnd(8),
    countText(transfers).padEnd(8),
    countText(iterations).padEnd(8),
    sizeText(totalBytes).padEnd(8),
    `${(elapsedUs / 1e6).toFixed(2).padStart(8)}s`,
    gbPerSecond.toFixed(2).padStart(10),
    usPerTransfer.toFixed(2).padStart(11),
  ].join('');
}

/** The same for `--json`. */
export function measuredFacts(measured: Measured): object {
  return { ...measured, ...figures(measured) };
}
