import { readFileSync } from 'node:fs';

const DEFAULT = 1024;

/** How many descriptors programs may have that are started from here. */
export function descriptorLimit(): number {
  const line = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  return line === 'unlimited' ? 2 ** 20 : Number(line ?? DEFAULT);
}
