import { InvalidArgumentError } from 'commander';

const SIZES: Readonly<Record<string, number>> = { '': 1, k: 1 << 10, m: 1 << 20, g: 1 << 30 };
const TIMES_MS: Readonly<Record<string, number>> = { ms: 1, '': 1e3, s: 1e3, m: 6e4, h: 3.6e6, d: 8.64e7 };

/** A parser for a number with a unit behind it, which stands for a whole number of the smallest. */
function quantity(
  units: Readonly<Record<string, number>>,
  min: number,
  max: number,
  advice: string,
): (text: string) => number {
  return (text) => {
    const [, digits = '', unit = ''] = /^(\d+(?:\.\d+)?)([a-z]*)$/i.exec(text) ?? [];
    const scale = digits !== '' && Object.hasOwn(units, unit) ? units[unit] : NaN;
    const value = Math.round(Number(digits) * scale);
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(advice);
    return value;
  };
}

/** Reads `64M`, `1.5G`, `4096`: bytes. */
export function bytesBetween(min: number, max: number, advice: string): (text: string) => number {
  const parse = quantity(SIZES, min, max, advice);
  return (text) => parse(text.toLowerCase().replace(/i?b$/, ''));
}

/** Reads `30`, `30s`, `500ms`, `5m`, `2h`, `7d`: milliseconds, at least one. */
export const milliseconds = quantity(
  TIMES_MS,
  1,
  2 ** 32 - 1,
  'Give seconds, or a time such as 500ms, 30s, 5m, 2h or 7d, up to 49 days.',
);

/** A time that has passed, or is to come, in a few characters: `250 ms`, `12.5 s`, `3 min 20 s`, `2 h 5 min`. */
export function timeText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A whole number with its thousands set apart. */
export const countText = (count: number): string => Math.round(count).toLocaleString('en');
