import type { Context } from '../../../entry/index.js';
import { gidText } from '../../kit/addresses.js';
import type { Destination } from '../exchange/destination.js';
import type { PingPongResult } from './ping-pong.js';

export function hex(value: number, digits: number): string {
  return `0x${value.toString(16).padStart(digits, '0')}`;
}

/** Prints what the C tools print; with --json the same facts come as one object at the end. */
export class Report {
  readonly #json: boolean;
  readonly #facts: Record<string, unknown> = {};
  #hasEnded = false;

  constructor(json: boolean) {
    this.#json = json;
  }

  /** @param mark what stands between PSN and GID */
  addresses(which: 'local' | 'remote', destinations: readonly Destination[], several: boolean, mark: string): void {
    const told = destinations.map(({ lid, qpn, psn, gid }) => ({
      lid,
      qpn,
      psn,
      gid: gidText(gid),
    }));
    if (this.#json) {
      this.#facts[which] = several ? told : told[0];
      return;
    }
    const label = `${which} address:`.padEnd(15);
    for (const { lid, qpn, psn, gid } of told) {
      process.stdout.write(`  ${label} LID ${hex(lid, 4)}, QPN ${hex(qpn, 6)}, PSN ${hex(psn, 6)}${mark} GID ${gid}\n`);
    }
  }

  /** @param isInterrupted whether the user ended the game before its end */
  result(sizeBytes: number, result: PingPongResult, context: Context, isInterrupted = false): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { iterations, elapsedUs, invalidPages, clockCycles, note } = result;
    const bytes = sizeBytes * iterations * 2;
    const mbitPerSecond = (bytes * 8) / elapsedUs;
    const usecPerIteration = elapsedUs / iterations;
    if (note !== undefined) process.stderr.write(`${note}\n`);
    if (this.#json) {
      const figures = {
        bytes,
        iterations,
        elapsedUs,
        mbitPerSecond,
        usecPerIteration,
        clockCycles,
        invalidPages,
      };
      const facts = { ...this.#facts, ...figures, ...(isInterrupted && { interrupted: true }) };
      process.stdout.write(`${JSON.stringify({ ...facts, counters: context.counters() })}\n`);
      return;
    }
    const seconds = (elapsedUs / 1e6).toFixed(2);
    const lines = [
      `${bytes} bytes in ${seconds} seconds = ${mbitPerSecond.toFixed(2)} Mbit/sec`,
      `${iterations} iters in ${seconds} seconds = ${usecPerIteration.toFixed(2)} usec/iter`,
    ];
    if (clockCycles !== undefined) {
      lines.push(
        `Max receive completion clock cycles = ${clockCycles.max}`,
        `Min receive completion clock cycles = ${clockCycles.min}`,
        `Average receive completion clock cycles = ${clockCycles.average.toFixed(6)}`,
      );
    }
    lines.push(...invalidPages.map((page) => `invalid data in page ${page}`));
    process.stdout.write(`${lines.join('\n')}\n`);
  }
}
