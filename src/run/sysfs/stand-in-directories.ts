import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmdirSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLocked, lockFile } from '../../node/system/index.js';
import { descriptorName } from '../processes/processes.js';

const PREFIX = 'verbena-run-';
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Between the moment that a launcher makes its place and the one that it locks it there may be so much time. */
const YOUNG_MS = 60_000;

/**
 * What programs get when they open a folder of ours: a real one, so that the kernel says of it what it says of folders. It is empty, and
 * nowhere any more: what is in it is ours to tell. Each folder of ours has its own, and is known by its name.
 */
export class StandInDirectories {
  readonly #standIns = new Map<string, number>();
  readonly #pathOf = new Map<string, string>();

  constructor(paths: readonly string[]) {
    removeLeftBehind();
    const place = mkdtempSync(join(tmpdir(), PREFIX));
    const lock = openSync(place, FOLDER);
    lockFile(lock);
    for (const [index, path] of paths.entries()) {
      const folder = join(place, String(index));
      mkdirSync(folder);
      // Whatever the mask of modes leaves.
      chmodSync(folder, 0o755);
      const fd = openSync(folder, FOLDER);
      rmdirSync(folder);
      this.#standIns.set(path, fd);
      this.#pathOf.set(descriptorName(process.pid, fd) ?? '', path);
    }
    // From here on nothing is left there, whatever ends this process.
    rmdirSync(place);
    closeSync(lock);
  }

  /** Opens the stand-in of a folder: a descriptor of its own, which the caller closes. */
  open(path: string): number {
    return openSync(`/proc/self/fd/${this.#standIns.get(path) ?? -1}`, constants.O_RDONLY | constants.O_DIRECTORY);
  }

  /** The folder that a program's descriptor stands for, or undefined. */
  pathOf(tid: number, fd: number): string | undefined {
    return this.pathOfName(descriptorName(tid, fd));
  }

  /** As {@link pathOf}, by what the kernel calls the descriptor's file. */
  pathOfName(name: string | undefined): string | undefined {
    return this.#pathOf.get(name ?? '');
  }

  /** What the kernel says of a descriptor of the stand-in of a folder, where it has one. */
  statOf(path: string): BigIntStats | undefined {
    const fd = this.#standIns.get(path);
    return fd === undefined ? undefined : fstatSync(fd, { bigint: true });
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

/** Removes the places of those who were killed while they made theirs. */
function removeLeftBehind(): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const place = join(tmpdir(), name);
    try {
      if (isLeftBehind(place)) removeEmpty(place);
    } catch {
      // It is another user's, or has just been removed.
    }
  }
}

function isLeftBehind(place: string): boolean {
  const fd = openSync(place, FOLDER);
  try {
    return Date.now() - fstatSync(fd).mtimeMs > YOUNG_MS && !isLocked(fd);
  } finally {
    closeSync(fd);
  }
}

/** A folder, with empty ones in it at most. */
function removeEmpty(place: string): void {
  for (const name of readdirSync(place)) rmdirSync(join(place, name));
  rmdirSync(place);
}
