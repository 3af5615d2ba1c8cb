/** `few-descriptors ADDRESS HOST COUNT`: opens a device with 0, 1 ... COUNT file descriptors left, and reports how each went. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { openDevice, VerbsError } from '../../../../entry/index.js';

const [address, host, count] = process.argv.slice(2);
const fds: number[] = [];

function fill(): void {
  try {
    for (;;) fds.push(openSync(devNull, 'r'));
  } catch {
    // Now there are none left.
  }
}

function attempt(): string {
  try {
    // Those who test this know that it is one of the two.
    openDevice({ address, host: host as 'inline' | 'thread', warn: () => undefined }).close();
    return 'open';
  } catch (error) {
    return error instanceof VerbsError ? error.errno : String(error);
  }
}

const outcomes: string[] = [];
for (let left = 0; left <= Number(count); left += 1) {
  fill();
  for (let i = 0; i < left; i += 1) closeSync(fds.pop() ?? -1);
  outcomes.push(attempt());
}
for (const fd of fds) closeSync(fd);
process.send?.(outcomes, () => process.disconnect());
