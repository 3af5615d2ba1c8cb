import { countText, sizeText } from '../common/tests.js';
import type { Pong } from './client.js';

const HEAD = [
  'name'.padEnd(10),
  'bytes'.padEnd(8),
  'xfers'.padEnd(8),
  'total'.padEnd(8),
  `${'time'.padStart(8)} `,
  'Gb/sec'.padStart(10),
  'usec/xfer'.padStart(13),
].join('');

/** The line above the table. */
export function headLine(): string {
  return HEAD;
}

function figures({ sizeBytes, arrived, elapsedUs }: Pong) {
  const totalBytes = arrived * sizeBytes;
  return {
    totalBytes,
    gbPerSecond: (totalBytes * 8) / (1000 * elapsedUs),
    usPerTransfer: arrived === 0 ? 0 : elapsedUs / arrived,
  };
}

/** A line of the table. */
export function pongLine(pong: Pong): string {
  const { totalBytes, gbPerSecond, usPerTransfer } = figures(pong);
  return [
    pong.name.padEnd(10),
    sizeText(pong.sizeBytes).padEnd(8),
    countText(pong.arrived).padEnd(8),
    sizeText(totalBytes).padEnd(8),
    `${(pong.elapsedUs / 1e6).toFixed(2).padStart(8)}s`,
    gbPerSecond.toFixed(2).padStart(10),
    usPerTransfer.toFixed(2).padStart(11),
  ].join('');
}

/** The same for `--json`. */
export function pongFacts(pong: Pong): object {
  return { ...pong, ...figures(pong) };
}
