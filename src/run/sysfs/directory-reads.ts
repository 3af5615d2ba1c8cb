import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import type { Calls } from '../notifications/blocked-calls.js';
import { Errno } from '../../device/ibta/index.js';
import { writeProgram } from '../processes/program-memory.js';
import type { Identities } from './identities.js';
import { directoryEntries, type Entry, EntryType, typeOf } from './stat.js';
import { type DirectoryNode, find, type Roots } from './tree.js';

interface Cursor {
  readonly entries: readonly Entry[];
  next: number;
}

/** The types that `readdir` of Node tells, in the order in which they are asked for. */
const TYPES: readonly (readonly [type: number, is: (entry: Dirent) => boolean])[] = [
  [EntryType.DIRECTORY, (entry) => entry.isDirectory()],
  [EntryType.FILE, (entry) => entry.isFile()],
  [EntryType.LINK, (entry) => entry.isSymbolicLink()],
  [EntryType.CHARACTER_DEVICE, (entry) => entry.isCharacterDevice()],
  [EntryType.BLOCK_DEVICE, (entry) => entry.isBlockDevice()],
  [EntryType.FIFO, (entry) => entry.isFIFO()],
  [EntryType.SOCKET, (entry) => entry.isSocket()],
];

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')));
}

/**
 * Answers `getdents64` for directories of ours, and for the kernel's directories that ours lie in: there it adds ours to the
 * kernel's. A program that has read to the end reads from the beginning again, which is what `rewinddir` asks for.
 */
export class DirectoryReads {
  /** How far opened directories were read, by thread and number: `TID FD`. */
  readonly #cursors = new Map<string, Cursor>();
  /** What the listing of a directory of the kernel's lacks. */
  readonly #added = new Map<string, [name: string, path: string][]>();

  constructor(
    private readonly roots: Roots,
    private readonly identities: Identities,
  ) {
    for (const [path, node] of roots) {
      // A hidden one is empty.
      if (node.kind !== 'directory' || node.entries.size === 0) continue;
      const parent = parentOf(path);
      const added = this.#added.get(parent) ?? [];
      added.push([path.slice(parent.length + 1), path]);
      this.#added.set(parent, added);
    }
  }

  /**
   * @param path of ours that the descriptor stands for
   * @param name what the kernel calls the descriptor's file
   */
  serve(calls: Calls, path: string | undefined, name: string | undefined): boolean {
    const [fd, address, room] = [calls.int(0), calls.address(1), calls.address(2)];
    const key = `${calls.tid} ${fd}`;
    const cursor = this.#cursors.get(key) ?? this.#begin(calls, path, name);
    if (cursor === undefined) return calls.letThrough();
    const { bytes, next } = directoryEntries(cursor.entries, cursor.next, room);
    const isAtEnd = cursor.next >= cursor.entries.length;
    if (!isAtEnd && next === cursor.next) return calls.refuse(Errno.EINVAL);
    if (!writeProgram(calls.tid, address, bytes)) return calls.refuse(Errno.EFAULT);
    // Without an answer the program reads the same entries again.
    if (!calls.answer(bytes.length)) return false;
    if (isAtEnd) this.#cursors.delete(key);
    else this.#cursors.set(key, { entries: cursor.entries, next });
    return true;
  }

  forget(tid: number, fd: number): void {
    this.#cursors.delete(`${tid} ${fd}`);
  }

  #begin(calls: Calls, path: string | undefined, name: string | undefined): Cursor | undefined {
    if (path !== undefined) {
      const found = find(this.roots, path);
      const isDirectory = typeof found !== 'string' && found.node.kind === 'directory';
      return isDirectory ? { entries: this.#entriesOf(found.path, found.node), next: 0 } : undefined;
    }
    const added = name === undefined ? undefined : this.#added.get(name);
    return added === undefined ? undefined : this.#beginParent(`/proc/${calls.tid}/fd/${calls.int(0)}`, added);
  }

  #entriesOf(path: string, { entries }: DirectoryNode): readonly Entry[] {
    const inodeOf = (of: string): bigint => this.identities.of(of).inode;
    const itself = [
      { name: '.', type: EntryType.DIRECTORY, inode: inodeOf(path) },
      { name: '..', type: EntryType.DIRECTORY, inode: inodeOf(parentOf(path)) },
    ];
    const below = [...entries].map(([name, node]) => ({ name, type: typeOf(node), inode: inodeOf(`${path}/${name}`) }));
    return [...itself, ...below];
  }

  /** @param place where the launcher finds the program's directory */
  #beginParent(place: string, added: readonly (readonly [name: string, path: string])[]): Cursor | undefined {
    try {
      const ours = added.map(([name, path]) => ({
        name,
        type: EntryType.DIRECTORY,
        inode: this.identities.of(path).inode,
      }));
      const names = new Set(ours.map(({ name }) => name));
      const theirs = readdirSync(place, { withFileTypes: true, encoding: 'latin1' })
        .filter(({ name }) => !names.has(name))
        .map((entry) => ({
          name: entry.name,
          type: TYPES.find(([, is]) => is(entry))?.[0] ?? EntryType.UNKNOWN,
          inode: inodeAt(`${place}/${entry.name}`),
        }));
      const itself = ['.', '..'].map((name) => ({
        name,
        type: EntryType.DIRECTORY,
        inode: inodeAt(`${place}/${name}`),
      }));
      return { entries: [...itself, ...theirs, ...ours], next: 0 };
    } catch {
      // Without the launcher the program reads what the kernel has.
      return undefined;
    }
  }
}

/** A number that is not 0, which stands for an entry that was removed. */
function inodeAt(place: string): bigint {
  try {
    return lstatSync(place, { bigint: true }).ino;
  } catch {
    return 1n;
  }
}
