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

/** A line of it. */
export function lineOf(own: readonly string[], { elapsedUs, gbPerSecond, usPerTransfer }: Rate): string {
  const seconds = `${(elapsedUs / 1e6).toFixed(2).padStart(8)}s`;
  return [...ownColumns(own), seconds, gbPerSecond.toFixed(2).padStart(10), usPerTransfer.toFixed(2).padStart(11)].join(
    '',
  );
}

function ownColumns(texts: readonly string[]): string[] {
  return texts.map((text, column) => text.padEnd(OWN_WIDTHS[column] ?? 0));
}
