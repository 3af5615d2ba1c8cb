import { headOf, lineOf } from './columns.js';
import { countText, sizeText, type StreamTest } from './tests.js';

/** A test that was played. */
export interface Measured extends StreamTest {
  readonly elapsedUs: number;
}

const HEAD = headOf('name', 'bytes', 'xfers', 'iters', 'total');

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
  const { name, sizeBytes, transfers, iterations } = measured;
  const rates = figures(measured);
  const own = [name, sizeText(sizeBytes), countText(transfers), countText(iterations), sizeText(rates.totalBytes)];
  return lineOf(own, { ...measured, ...rates });
}

/** The same for `--json`. */
export function measuredFacts(measured: Measured): object {
  return { ...measured, ...figures(measured) };
}
