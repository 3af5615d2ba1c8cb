import { countText, sizeText, type StreamTest } from './tests.js';

/** What the C tools' tables tell of every test, behind the columns that are a tool's own. */
interface Rate {
  readonly elapsedUs: number;
  readonly gbPerSecond: number;
  readonly usPerTransfer: number;
}

const OWN_WIDTHS = [10, 8, 8, 8, 8] as const;

/** The line above a table whose first columns have these names. */
export function headOf(...names: readonly string[]): string {
  return [...ownColumns(names), `${'time'.padStart(8)} `, 'Gb/sec'.padStart(10), 'usec/xfer'.padStart(13)].join('');
}

export function lineOf(own: readonly string[], { elapsedUs, gbPerSecond, usPerTransfer }: Rate): string {
  const seconds = `${(elapsedUs / 1e6).toFixed(2).padStart(8)}s`;
  return [...ownColumns(own), seconds, gbPerSecond.toFixed(2).padStart(10), usPerTransfer.toFixed(2).padStart(11)].join(
    '',
  );
}

function ownColumns(texts: readonly string[]): string[] {
  return texts.map((text, column) => text.padEnd(OWN_WIDTHS[column] ?? 0));
}

export interface Measured extends StreamTest {
  readonly elapsedUs: number;
}

const HEAD = headOf('name', 'bytes', 'xfers', 'iters', 'total');

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
