import { closeSync, writeSync } from 'node:fs';
import { MemoryFile, type NotifiedCalls } from '../../../machine/system/index.js';
import { Errno } from '../../../device/ibta/index.js';
import type { DescriptorRange } from '../launcher/descriptor-ranges.js';
import type { Calls } from '../notifications/calls.js';
import type { Machine, SystemCall } from '../launcher/system-calls.js';
import { readProgram, readText, writeProgram } from '../processes/program-memory.js';
import type { StandInDirectories } from './stand-in-directories.js';
import { directoryEntries, mayAccess, statBytes, statxBytes } from './stat.js';
import { type DeviceNode, find, type Found, type Node, type Roots } from './tree.js';

const AT_EMPTY_PATH = 0x1000;
const O_ACCMODE = 3;
const O_DIRECTORY = 0o200000;
const O_DIRECTORY_ARM64 = 0o40000;
const ENOTDIR = 20;
const EISDIR = 21;
const PATH_BYTES = 4096;

type Act = 'open' | 'stat' | 'statx' | 'access' | 'readlink';

/** Where a call has its arguments, by their positions. */
interface PathCall {
  readonly act: Act;
  readonly directory?: number;
  readonly path: number;
  /** Flags of `open`, or those that say that the path may be empty. */
  readonly flags?: number;
  /** `struct open_how`, whose first word is the flags. */
  readonly how?: number;
  readonly mode?: number;
  /** Where the answer goes. */
  readonly buffer?: number;
}

/** The calls that name a file by a path. */
export const PATH_CALLS = {
  open: { act: 'open', path: 0, flags: 1 },
  openat: { act: 'open', directory: 0, path: 1, flags: 2 },
  openat2: { act: 'open', directory: 0, path: 1, how: 2 },
  stat: { act: 'stat', path: 0, buffer: 1 },
  lstat: { act: 'stat', path: 0, buffer: 1 },
  newfstatat: { act: 'stat', directory: 0, path: 1, buffer: 2, flags: 3 },
  statx: { act: 'statx', directory: 0, path: 1, flags: 2, buffer: 4 },
  access: { act: 'access', path: 0, mode: 1 },
  faccessat: { act: 'access', directory: 0, path: 1, mode: 2 },
  faccessat2: { act: 'access', directory: 0, path: 1, mode: 2 },
  readlink: { act: 'readlink', path: 0 },
  readlinkat: { act: 'readlink', directory: 0, path: 1 },
} as const satisfies Partial<Record<SystemCall, PathCall>>;

/** What of the rest of the launcher these calls need. */
export interface PathCallSurroundings {
  readonly machine: Machine;
  readonly roots: Roots;
  readonly standIns: StandInDirectories;
  /** Numbers of opened folders of ours. */
  readonly directories: DescriptorRange;
  /** The device whose file has that number in a program, if it is one of ours. */
  deviceOf(tid: number, fd: number): Node | undefined;
  /** Opens a device for the program that called, and answers the call. */
  openDevice(calls: NotifiedCalls, node: DeviceNode): boolean;
}

/** Answers the calls that name files of ours, and lets all others through. */
export class PathCalls {
  readonly #startedS = Math.floor(Date.now() / 1000);
  readonly #inodes = new Map<string, number>();
  /** How far opened folders were read, by thread group and number: `PID FD`. */
  readonly #cursors = new Map<string, number>();

  constructor(private readonly around: PathCallSurroundings) {}

  serve(calls: NotifiedCalls, call: PathCall): boolean {
    const path = readText(calls.tid, calls.address(call.path), PATH_BYTES);
    if (path === undefined) return calls.letThrough();
    const { act } = call;
    if (path === '') return this.#serveDescriptor(calls, call);
    const found = this.#find(calls, call, path);
    if (found === 'elsewhere') return calls.letThrough();
    if (found === 'nothing') return calls.refuse(Errno.ENOENT);
    if (found === 'no folder') return calls.refuse(ENOTDIR);
    if (act === 'open') return this.#open(calls, call, found.path, found.node);
    if (act === 'readlink') return calls.refuse(Errno.EINVAL);
    if (act === 'access')
      return mayAccess(found.node, calls.int(call.mode ?? 0)) ? calls.answer(0) : calls.refuse(Errno.EACCES);
    return this.#tell(calls, calls.address(call.buffer ?? 0), act, found.node, found.path);
  }

  /** `fstat` of a device of ours. */
  serveFstat(calls: NotifiedCalls): boolean {
    const node = this.around.deviceOf(calls.tid, calls.int(0));
    if (node === undefined) return calls.letThrough();
    return this.#tell(calls, calls.address(1), 'stat', node, '');
  }

  /** `getdents64`. Whoever has read to the end begins anew, which is what `rewinddir` asks for. */
  serveEntries(calls: Calls): boolean {
    const { standIns, roots } = this.around;
    const [fd, address, room] = [calls.int(0), calls.address(1), calls.address(2)];
    const path = standIns.pathOf(calls.tid, fd);
    const found = path === undefined ? 'elsewhere' : find(roots, path);
    if (typeof found === 'string' || found.node.kind !== 'directory') return calls.letThrough();
    const key = `${calls.tid} ${fd}`;
    const from = this.#cursors.get(key) ?? 0;
    const entries = [...found.node.entries];
    const { bytes, next } = directoryEntries(entries, from, room);
    if (from < entries.length && next === from) return calls.refuse(Errno.EINVAL);
    if (!writeProgram(calls.tid, address, bytes)) return calls.refuse(Errno.EFAULT);
    // Without an answer the program reads the same entries again.
    if (!calls.answer(bytes.length)) return false;
    if (from >= entries.length) this.#cursors.delete(key);
    else this.#cursors.set(key, next);
    return true;
  }

  /** A program closes a number that may be a folder's. */
  closing(tid: number, fd: number): void {
    this.#cursors.delete(`${tid} ${fd}`);
  }

  #find(calls: NotifiedCalls, { directory }: PathCall, path: string): Found {
    const { roots, standIns } = this.around;
    if (path.startsWith('/')) return find(roots, path);
    // What is relative to where the program is, is not ours.
    if (directory === undefined || calls.int(directory) < 0) return 'elsewhere';
    const base = standIns.pathOf(calls.tid, calls.int(directory));
    return base === undefined ? 'elsewhere' : find(roots, `${base}/${path}`);
  }

  /** Without a path the descriptor is meant. */
  #serveDescriptor(calls: NotifiedCalls, { act, directory, flags, buffer }: PathCall): boolean {
    const mayBeEmpty = flags !== undefined && (calls.int(flags) & AT_EMPTY_PATH) !== 0;
    const isStat = act === 'stat' || act === 'statx';
    const node =
      isStat && mayBeEmpty && directory !== undefined
        ? this.around.deviceOf(calls.tid, calls.int(directory))
        : undefined;
    if (node === undefined || !isStat) return calls.letThrough();
    return this.#tell(calls, calls.address(buffer ?? 0), act, node, '');
  }

  #tell(calls: NotifiedCalls, address: number, act: 'stat' | 'statx', node: Node, path: string): boolean {
    const facts = { node, inode: this.#inode(path), changedS: this.#startedS };
    const bytes = act === 'stat' ? statBytes(this.around.machine, facts) : statxBytes(facts);
    return writeProgram(calls.tid, address, bytes) ? calls.answer(0) : calls.refuse(Errno.EFAULT);
  }

  #inode(path: string): number {
    const known = this.#inodes.get(path);
    if (known !== undefined) return known;
    this.#inodes.set(path, this.#inodes.size + 1);
    return this.#inodes.size;
  }

  #open(calls: NotifiedCalls, call: PathCall, path: string, node: Node): boolean {
    const flags = this.#flags(calls, call);
    const wantsDirectory = (flags & (this.around.machine === 'x64' ? O_DIRECTORY : O_DIRECTORY_ARM64)) !== 0;
    const writes = (flags & O_ACCMODE) !== 0;
    if (wantsDirectory && node.kind !== 'directory') return calls.refuse(ENOTDIR);
    switch (node.kind) {
      case 'device':
        return this.around.openDevice(calls, node);
      case 'directory':
        return writes ? calls.refuse(EISDIR) : this.#openDirectory(calls, path);
      case 'text':
        return writes ? calls.refuse(Errno.EACCES) : openText(calls, node.text());
    }
  }

  #flags(calls: NotifiedCalls, { flags, how }: PathCall): number {
    if (flags !== undefined) return calls.int(flags);
    const bytes = how === undefined ? undefined : readProgram(calls.tid, calls.address(how), 4);
    return bytes === undefined ? 0 : new DataView(bytes.buffer).getUint32(0, true);
  }

  #openDirectory(calls: NotifiedCalls, path: string): boolean {
    const { standIns, directories } = this.around;
    const at = freeDescriptor(standIns, calls.tid, directories);
    if (at === undefined) return calls.refuse(Errno.EMFILE);
    const fd = standIns.open(path);
    this.#cursors.delete(`${calls.tid} ${at}`);
    const given = calls.answerWithFd(fd, at) >= 0;
    closeSync(fd);
    return given || calls.refuse(Errno.EMFILE);
  }
}

/** A number that no folder of ours has in that program. */
function freeDescriptor(
  standIns: StandInDirectories,
  tid: number,
  { first, end }: DescriptorRange,
): number | undefined {
  for (let fd = first; fd < end; fd += 1) if (!standIns.isTaken(tid, fd)) return fd;
  return undefined;
}

/** A text is a file of its own for whoever opens it: what was read stays as it was. */
function openText(calls: NotifiedCalls, text: string): boolean {
  const file = new MemoryFile('verbena-sysfs');
  writeSync(file.fd, text, 0);
  const given = calls.answerWithFd(file.fd) >= 0;
  file.close();
  return given || calls.refuse(Errno.EMFILE);
}
