import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Folder, FolderFile } from '../../api/runtime/index.js';
import { lockFile, nativeHost } from '../system/index.js';

const LOCK = 'lock';
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

class NodeFile implements FolderFile {
  #isOpen = true;

  constructor(private readonly fd: number) {}

  get byteLength(): number {
    return fstatSync(this.fd).size;
  }

  read(into: Uint8Array, at: number): number {
    let length = 0;
    while (length < into.length) {
      const count = readSync(this.fd, into, length, into.length - length, at + length);
      if (count === 0) break;
      length += count;
    }
    return length;
  }

  write(bytes: Uint8Array, at: number): void {
    for (let length = 0; length < bytes.length;)
      length += writeSync(this.fd, bytes, length, bytes.length - length, at + length);
  }

  truncate(byteLength: number): void {
    ftruncateSync(this.fd, byteLength);
  }

  sync(): void {
    fdatasyncSync(this.fd);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.fd);
  }
}

/** A folder of the machine's. The kernel lets go of its lock however this program ends. */
export class NodeFolder implements Folder {
  readonly #lock: number;
  #isOpen = true;

  /** @throws Error EBUSY while another program has it open, and what the system says */
  constructor(readonly path: string) {
    makeFolder(resolve(path));
    this.#lock = lock(path);
  }

  names(): readonly string[] {
    return readdirSync(this.path).filter((name) => name !== LOCK);
  }

  open(name: string): FolderFile {
    return new NodeFile(openSync(join(this.path, name), 'r'));
  }

  create(name: string): FolderFile {
    return new NodeFile(openSync(join(this.path, name), 'wx+', FILE_MODE));
  }

  rename(from: string, to: string): void {
    renameSync(join(this.path, from), join(this.path, to));
  }

  remove(name: string): void {
    unlinkSync(join(this.path, name));
  }

  sync(): void {
    syncNames(this.path);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (nativeHost() === undefined) ftruncateSync(this.#lock, 0);
    closeSync(this.#lock);
  }
}

/**
 * Makes a folder where there is none, and those above it: all of them are on the disk then. Not by mkdirSync's `recursive`, which says only of the first that it has made
 * it, and tries for ever where the system makes none, as in /proc.
 */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, FOLDER_MODE);
  } catch (error) {
    if (isCode(error, 'EEXIST') && statSync(path).isDirectory()) return;
    const above = dirname(path);
    if (!isCode(error, 'ENOENT') || above === path) throw error;
    makeFolder(above);
    mkdirSync(path, FOLDER_MODE);
  }
  syncNames(dirname(path));
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function syncNames(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** @returns a descriptor that holds the lock */
function lock(path: string): number {
  const fd = openSync(join(path, LOCK), 'a+', FILE_MODE);
  const isOurs = nativeHost() === undefined ? lockByName(fd) : lockFile(fd);
  if (isOurs) return fd;
  closeSync(fd);
  throw Object.assign(new Error(`another program has ${path} open`), { code: 'EBUSY' });
}

/** Where there are no locks the file says whose the folder is: that of a program which is no more is nobody's. */
function lockByName(fd: number): boolean {
  const owner = Number(readFileSync(fd, 'latin1'));
  if (owner !== 0 && isAlive(owner)) return false;
  ftruncateSync(fd, 0);
  writeSync(fd, String(process.pid));
  return true;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}
