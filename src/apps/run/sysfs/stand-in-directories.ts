import { closeSync, constants, mkdirSync, mkdtempSync, openSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { descriptorName } from '../processes/processes.js';

/**
 * What programs get when they open a folder of ours: a real one, so that the kernel says of it what it says of folders. It is empty, and
 * nowhere any more: what is in it is ours to tell. Each folder of ours has its own, and is known by its name.
 */
export class StandInDirectories {
  readonly #place = mkdtempSync(join(tmpdir(), 'verbena-run-'));
  readonly #standIns = new Map<string, number>();
  readonly #pathOf = new Map<string, string>();

  constructor(paths: readonly string[]) {
    for (const [index, path] of paths.entries()) {
      const folder = join(this.#place, String(index));
      mkdirSync(folder);
      const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
      rmdirSync(folder);
      this.#standIns.set(path, fd);
      this.#pathOf.set(descriptorName(process.pid, fd) ?? '', path);
    }
    // Nothing is left there, whatever ends this process.
    rmdirSync(this.#place);
  }

  /** Opens the stand-in of a folder: a descriptor of its own, which the caller closes. */
  open(path: string): number {
    return openSync(`/proc/self/fd/${this.#standIns.get(path) ?? -1}`, constants.O_RDONLY | constants.O_DIRECTORY);
  }

  /** The folder that a program's descriptor stands for, or undefined. */
  pathOf(tid: number, fd: number): string | undefined {
    return this.#pathOf.get(descriptorName(tid, fd) ?? '');
  }

  /** Whether a program has a file of that number, whatever it is. */
  isTaken(tid: number, fd: number): boolean {
    return descriptorName(tid, fd) !== undefined;
  }

  close(): void {
    for (const fd of this.#standIns.values()) closeSync(fd);
    this.#standIns.clear();
  }
}
