/** What rstream and riostream measure. */

import { ToolError } from '../../kit/errors.js';

const BYTE_VALUES = 256;

/** What `-T verify` sends and looks for: bytes that count up through the whole run, in each direction by itself. */
export class Pattern {
  #sent = 0;
  #checked = 0;

  fill(bytes: Uint8Array): void {
    let next = this.#sent;
    for (let i = 0; i < bytes.length; i += 1) bytes[i] = next++;
    this.#sent = next % BYTE_VALUES;
  }

  /** @throws ToolError at the first byte that is wrong */
  verify(bytes: Uint8Array): void {
    let next = this.#checked;
    for (const byte of bytes) {
      if (byte !== next % BYTE_VALUES)
        throw new ToolError(
          `data verification failed byte ${next}: it is ${byte}, not ${next % BYTE_VALUES}. Do both sides have -T v?`,
        );
      next += 1;
    }
    this.#checked = next;
  }
}

export interface StreamTest {
  readonly name: string;
  /** Bytes of each transfer. */
  readonly sizeBytes: number;
  /** Transfers in one direction before the other has its turn. */
  readonly transfers: number;
  readonly iterations: number;
}

export type Purpose = 'latency' | 'bandwidth' | 'custom';

const KIB = 1 << 10;
const MIB = 1 << 20;
const GIB = 1 << 30;
/** Of `-S all`: 2ⁿ bytes, and half as much again. */
const [FIRST_POWER, LAST_POWER] = [7, 22];
const FEW_SIZES: readonly number[] = [64, 4 * KIB, 64 * KIB, MIB];
const ALL_SIZES: readonly number[] = [
  64,
  ...Array.from({ length: LAST_POWER - FIRST_POWER + 1 }, (_, at) => 2 ** (FIRST_POWER + at)).flatMap((size) => [
    size,
    size + size / 2,
  ]),
];
/** Of each size from so many bytes on so many transfers, the largest first. */
const COUNTS: readonly (readonly [number, number])[] = [
  [MIB, 100],
  [64 * KIB, 1000],
  [KIB, 10_000],
  [0, 100_000],
];
const SIZE_UNITS: readonly (readonly [number, string])[] = [
  [GIB, 'g'],
  [MIB, 'm'],
  [KIB, 'k'],
];
const COUNT_UNITS: readonly (readonly [number, string])[] = [
  [1e9, 'b'],
  [1e6, 'm'],
  [1e3, 'k'],
];

export function sizesOf(all: boolean): readonly number[] {
  return all ? ALL_SIZES : FEW_SIZES;
}

function countOf(sizeBytes: number): number {
  return COUNTS.find(([from]) => sizeBytes >= from)?.[1] ?? 1;
}

/** The test of a size that C has for that purpose. */
export function testOf(purpose: Exclude<Purpose, 'custom'>, sizeBytes: number): StreamTest {
  const count = countOf(sizeBytes);
  return purpose === 'latency'
    ? { name: `${sizeText(sizeBytes)}_lat`, sizeBytes, transfers: 1, iterations: count }
    : { name: `${sizeText(sizeBytes)}_bw`, sizeBytes, transfers: count, iterations: 1 };
}

/** `64`, `1.5k`, `4k`, `100m`: one decimal below ten, rounded down. */
export function sizeText(bytes: number): string {
  const [base, unit] = SIZE_UNITS.find(([from]) => bytes >= from) ?? [1, ''];
  const whole = Math.floor(bytes / base);
  const tenths = whole < 10 ? Math.floor(((bytes % base) * 10) / base) : 0;
  return tenths === 0 ? `${whole}${unit}` : `${whole}.${tenths}${unit}`;
}

/** `100`, `10k`: rounded down. */
export function countText(count: number): string {
  const [base, unit] = COUNT_UNITS.find(([from]) => count >= from) ?? [1, ''];
  return `${Math.floor(count / base)}${unit}`;
}
