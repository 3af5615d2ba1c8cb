import { randomFillSync } from 'node:crypto';
import { type BigIntStats, closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { fileFailure, ToolError } from '../kit/errors.js';

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

function open(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw fileFailure(path, 'read', error);
  }
}

/** Whether two paths lead to one file that exists. */
function sameFile(path: string, stat: BigIntStats): boolean {
  const other = statSync(path, { bigint: true, throwIfNoEntry: false });
  return other?.dev === stat.dev && other.ino === stat.ino;
}

/**
 * A file, which is not to be written to in the same run.
 *
 * @throws ToolError when it cannot be read, or is `output`
 */
export function fromFile(path: string, output: string | undefined): Source {
  const fd = open(path);
  const stat = fstatSync(fd, { bigint: true });
  if (!stat.isFile()) {
    closeSync(fd);
    throw new ToolError(`${path} is not a regular file.`);
  }
  if (output !== undefined && sameFile(output, stat)) {
    closeSync(fd);
    throw new ToolError(`${output} is the file to move; give --output another name.`);
  }
  return {
    name: basename(path),
    sizeBytes: Number(stat.size),
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
