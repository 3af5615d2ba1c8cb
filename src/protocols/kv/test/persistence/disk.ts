import type { SeededRandom } from '../../../../device/link/index.js';
import type { Folder, FolderFile } from '../../../../api/runtime/index.js';

/** The machine, or the program, has ended in the middle of a call. */
export class Crash extends Error {}

/** What is thrown where a disk does not do what it is asked. */
export function diskError(code: string): Error {
  return Object.assign(new Error(`${code}, says the disk`), { code });
}

interface Write {
  readonly at: number;
  readonly bytes: Uint8Array;
}
/** What a file was asked for since it was put on the disk. */
type Change = Write | { readonly truncated: number };

/** A file: what programs see, and what is left of it when the machine ends. */
class Inode {
  seen = new Uint8Array(0);
  kept = new Uint8Array(0);
  unsynced: Change[] = [];
}

/** A change of names that was not put on the disk. */
interface Renaming {
  readonly name: string;
  /** undefined: there is none of that name any more */
  readonly inode: Inode | undefined;
}

const SECTOR = 64;

/** How a disk may misbehave. */
export interface Faults {
  /** Bytes that it has room for. */
  room: number;
  /** Says of what it is asked to keep that it is kept, and keeps nothing. */
  lies: boolean;
  /** The next so many syncs fail. */
  failingSyncs: number;
  /** The next so many writes fail, of which a part is written. */
  failingWrites: number;
  /** After so many calls that change something the machine ends. */
  crashIn: number;
}

/** A disk with one folder, which loses what was not put on it when the machine ends, as real ones do: any part of it. */
export class SimulatedDisk implements Folder {
  readonly path = '/simulated';
  readonly faults: Faults = { room: Infinity, lies: false, failingSyncs: 0, failingWrites: 0, crashIn: Infinity };
  #names = new Map<string, Inode>();
  #keptNames = new Map<string, Inode>();
  #renamings: Renaming[] = [];
  #isOpen = false;

  constructor(private readonly random: SeededRandom) {}

  openAgain(): this {
    if (this.#isOpen) throw diskError('EBUSY');
    this.#isOpen = true;
    return this;
  }

  /** Whether the machine has ended in the middle of a call. */
  get hasEnded(): boolean {
    return this.faults.crashIn < 0;
  }

  /** The program was killed: the machine goes on, and so does what it was told to write. */
  kill(): void {
    this.#isOpen = false;
    this.faults.crashIn = Infinity;
  }

  /** The machine has ended, and begins anew with what is on the disk. */
  crash(): void {
    this.kill();
    for (const { name, inode } of this.#renamings.splice(0, this.random.below(this.#renamings.length + 1)))
      set(this.#keptNames, name, inode);
    this.#renamings = [];
    this.#names = new Map(this.#keptNames);
    for (const inode of this.#names.values()) {
      for (const change of inode.unsynced.splice(0)) this.#keepSome(inode, change);
      inode.seen = inode.kept.slice();
    }
  }

  /** The bytes of a file, for tests to damage it. */
  bytesOf(name: string): Uint8Array {
    const inode = this.#inode(name);
    inode.kept = inode.seen;
    return inode.seen;
  }

  names(): readonly string[] {
    return [...this.#names.keys()];
  }

  open(name: string): FolderFile {
    return this.#file(this.#inode(name));
  }

  create(name: string): FolderFile {
    this.#call();
    if (this.#names.has(name)) throw diskError('EEXIST');
    const inode = new Inode();
    this.#rename({ name, inode });
    return this.#file(inode);
  }

  rename(from: string, to: string): void {
    this.#call();
    const inode = this.#inode(from);
    this.#rename({ name: to, inode });
    this.#rename({ name: from, inode: undefined });
  }

  remove(name: string): void {
    this.#call();
    this.#inode(name);
    this.#rename({ name, inode: undefined });
  }

  sync(): void {
    this.#call();
    this.#failSync();
    if (this.faults.lies) return;
    for (const { name, inode } of this.#renamings.splice(0)) set(this.#keptNames, name, inode);
  }

  close(): void {
    this.#isOpen = false;
  }

  #file(inode: Inode): FolderFile {
    return {
      get byteLength() {
        return inode.seen.length;
      },
      read: (into, at) => {
        const bytes = inode.seen.subarray(at, at + into.length);
        into.set(bytes);
        return bytes.length;
      },
      write: (bytes, at) => this.#write(inode, bytes, at),
      truncate: (byteLength) => {
        this.#call();
        inode.unsynced.push({ truncated: byteLength });
        inode.seen = inode.seen.slice(0, byteLength);
      },
      sync: () => {
        this.#call();
        this.#failSync();
        if (this.faults.lies) return;
        inode.kept = inode.seen.slice();
        inode.unsynced = [];
      },
      close: () => undefined,
    };
  }

  #write(inode: Inode, bytes: Uint8Array, at: number): void {
    if (this.faults.crashIn < 0) throw new Crash('the machine has ended');
    let length = bytes.length;
    const grows = Math.max(0, at + length - inode.seen.length);
    const lacks = Math.max(0, this.#used() + grows - this.faults.room);
    const fails = this.faults.failingWrites > 0;
    if (fails) this.faults.failingWrites -= 1;
    if (lacks > 0) length = Math.max(0, length - lacks);
    const crashes = this.faults.crashIn <= 0;
    if (fails || crashes) length = this.random.below(length + 1);
    this.#append(inode, bytes.slice(0, length), at);
    this.#call();
    if (fails) throw diskError('EIO');
    if (lacks > 0) throw diskError('ENOSPC');
  }

  #append(inode: Inode, bytes: Uint8Array, at: number): void {
    inode.seen = written(inode.seen, { at, bytes });
    inode.unsynced.push({ at, bytes });
  }

  #call(): void {
    this.faults.crashIn -= 1;
    if (this.faults.crashIn < 0) throw new Crash('the machine ends');
  }

  #failSync(): void {
    if (this.faults.failingSyncs <= 0) return;
    this.faults.failingSyncs -= 1;
    throw diskError('EIO');
  }

  #rename(renaming: Renaming): void {
    set(this.#names, renaming.name, renaming.inode);
    this.#renamings.push(renaming);
  }

  #inode(name: string): Inode {
    const inode = this.#names.get(name);
    if (inode === undefined) throw diskError('ENOENT');
    return inode;
  }

  #used(): number {
    return [...this.#names.values()].reduce((sum, { seen }) => sum + seen.length, 0);
  }

  /** Of a change that was under way some sectors are there, whichever; the last of them to any byte. */
  #keepSome(inode: Inode, change: Change): void {
    if ('truncated' in change) {
      if (this.random.chance(0.5)) inode.kept = inode.kept.slice(0, change.truncated);
      return;
    }
    const { at, bytes } = change;
    const share = this.random.below(3) / 2;
    for (let from = 0; from < bytes.length; from += SECTOR) {
      if (!this.random.chance(share)) continue;
      const length = this.random.chance(0.9) ? SECTOR : this.random.below(SECTOR);
      inode.kept = written(inode.kept, { at: at + from, bytes: bytes.subarray(from, from + length) });
    }
  }
}

function set(names: Map<string, Inode>, name: string, inode: Inode | undefined): void {
  if (inode === undefined) names.delete(name);
  else names.set(name, inode);
}

function written(before: Uint8Array, { at, bytes }: Write): Uint8Array<ArrayBuffer> {
  const after = new Uint8Array(Math.max(before.length, at + bytes.length));
  after.set(before);
  after.set(bytes, at);
  return after;
}
