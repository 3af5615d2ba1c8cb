/** The bench's lines on a terminal. */
import type { Measurement } from '../measure/measurement.js';
import type { Aim, Standing } from './aims.js';
import type { Figure } from './statistics.js';

const WHAT_WIDTH = 42;
const AIM_WIDTH = 56;

export function digits(value: number): string {
  if (value === 0) return '0';
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : value >= 0.1 ? 2 : 3);
}

/** How far the samples lie apart. */
export function spreadText({ min, max, samples }: Figure): string {
  return samples === 1 ? '1 sample' : `${digits(min)} to ${digits(max)}`;
}

export function boundText({ bound }: Aim): string {
  return 'atMost' in bound ? `at most ${bound.atMost}` : `at least ${bound.atLeast}`;
}

/** A row's line: the median, the spread, and what else is known. */
export function rowLine(
  what: string,
  unit: string,
  figure: Figure,
  { percentiles, cpuNsPerByte }: Measurement,
): string {
  const spread = figure.samples === 1 ? spreadText(figure) : `${spreadText(figure)}, ${figure.samples} samples`;
  const more = [
    percentiles && `99 %: ${digits(percentiles.p99)}, 99.9 %: ${digits(percentiles.p999)}`,
    cpuNsPerByte !== undefined && `CPU ${digits(cpuNsPerByte)} ns/B`,
  ].filter((text) => typeof text === 'string');
  return [
    `  ${what.padEnd(WHAT_WIDTH)}${digits(figure.median).padStart(7)} ${unit.padEnd(7)} (${spread})`,
    ...more,
  ].join('  ');
}

/** The line of a row without a figure. */
export function missingLine(what: string, why: string): string {
  return `  ${what.padEnd(WHAT_WIDTH)}${'–'.padStart(7)} ${why}`;
}

export function aimLine({ aim, reached, verdict }: Standing): string {
  const number = reached === undefined ? '–' : digits(reached);
  return `  ${aim.what.padEnd(AIM_WIDTH)}${boundText(aim).padStart(13)}  ${number.padStart(7)} ${aim.unit.padEnd(16)} ${verdict}`;
}

/** On a terminal, the line that says what is being measured; it makes room for the next. */
export class ProgressLine {
  readonly #stream = process.stderr;

  show(text: string): void {
    if (!this.#stream.isTTY) return;
    this.clear();
    this.#stream.write(text.slice(0, this.#stream.columns - 1));
  }

  clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[K');
  }
}
