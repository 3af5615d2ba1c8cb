import { headOf, lineOf } from '../common/table.js';
import { countText, sizeText } from '../common/tests.js';
import type { Pong } from './client.js';

const HEAD = headOf('name', 'bytes', 'xfers', 'total');

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
  const rates = figures(pong);
  const own = [pong.name, sizeText(pong.sizeBytes), countText(pong.arrived), sizeText(rates.totalBytes)];
  return lineOf(own, { ...pong, ...rates });
}

/** The same for `--json`. */
export function pongFacts(pong: Pong): object {
  return { ...pong, ...figures(pong) };
}
