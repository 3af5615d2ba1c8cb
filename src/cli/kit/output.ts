import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** Where a tool reads and prints: the streams of the process, or those of a test. */
export interface StandardStreams {
  readonly input: AsyncIterable<unknown>;
  /** Resolves when there is room for more. */
  print(text: string): Promise<void>;
  /** Prints to standard error. */
  complain(text: string): void;
}

export const processStreams: StandardStreams = {
  get input() {
    return process.stdin;
  },
  async print(text) {
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  },
  complain(text) {
    process.stderr.write(text);
  },
};

export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return known && typeof manifest.version === 'string' ? manifest.version : 'unknown';
}

export const MIB = 1 << 20;

/** An amount of data: in bytes below 0.1 MiB, where a MiB would say too little. */
export function amount(bytes: number): string {
  return bytes < MIB / 10 ? `${bytes.toLocaleString('en')} bytes` : `${(bytes / MIB).toFixed(1)} MiB`;
}

/** A rate, in units that leave it a few digits: `1.52 GB/s (12.2 Gbit/s)`, `35.1 MB/s (281 Mbit/s)`. */
export function rate(bytesPerSecond: number): string {
  const bits = bytesPerSecond * 8;
  return bytesPerSecond < 1e8
    ? `${(bytesPerSecond / 1e6).toFixed(1)} MB/s (${(bits / 1e6).toFixed(0)} Mbit/s)`
    : `${(bytesPerSecond / 1e9).toFixed(2)} GB/s (${(bits / 1e9).toFixed(1)} Gbit/s)`;
}
