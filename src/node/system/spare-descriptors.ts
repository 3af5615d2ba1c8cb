import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** Makes sure that so many more files can be opened. @throws Node's error (EMFILE, ENFILE) when they cannot */
export function requireDescriptors(count: number): void {
  const fds: number[] = [];
  try {
    while (fds.length < count) fds.push(openSync(devNull, 'r'));
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}
