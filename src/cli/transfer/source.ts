import { randomFillSync } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { ToolError } from '../errors.js';

/** What is moved, read in order. */
export interface Source {
  readonly name: string;
  readonly sizeBytes: number;
  /** Fills `into` with the bytes from `position` on. */
  read(into: Uint8Array, position: number): void;
  close(): void;
}

/** Random bytes, so that nothing on the way can be right by luck. */
export function madeOnTheFly(sizeBytes: number): Source {
  return {
    name: 'bytes made on the fly',
    sizeBytes,
    read: (into) => void randomFillSync(into),
    close: () => {},
  };
}

/** @throws ToolError or the system's error when the file cannot be read */
export function fromFile(path: string): Source {
  const fd = openSync(path, 'r');
  const stat = fstatSync(fd);
  if (!stat.isFile()) {
    closeSync(fd);
    throw new ToolError(`${path} is not a regular file.`);
  }
  return {
    name: basename(path),
    sizeBytes: stat.size,
    read: (into, position) => {
      let done = 0;
      while (done < into.length) {
        const count = readSync(fd, into, done, into.length - done, position + done);
        if (count === 0) throw new ToolError(`${path} became shorter while it was read.`);
        done += count;
      }
    },
    close: () => closeSync(fd),
  };
}
