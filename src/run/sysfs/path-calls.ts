import { closeSync, constants, fchmodSync, openSync, statSync, writeSync } from 'node:fs';
import { MemoryFile, type NotifiedCalls } from '../../node/system/index.js';
import { Errno } from '../../device/ibta/index.js';
import { type DescriptorRange, isWithin } from '../launcher/descriptor-ranges.js';
import type { Calls } from '../notifications/blocked-calls.js';
import type { Machine } from '../launcher/system-calls.js';
import { descriptorName } from '../processes/processes.js';
import { readProgram, readText, writeProgram } from '../processes/program-memory.js';
import { DirectoryReads } from './directory-reads.js';
import { Identities } from './identities.js';
import type { StandInDirectories } from './stand-in-directories.js';
import type { PathArgument, PathCall } from './path-call-table.js';
import { mayAccess, statBytes, statfsBytes, statxBytes } from './stat.js';
import { type DeviceNode, type DeviceNumber, find, type Found, type Node, plain, type Roots } from './tree.js';
import { WorkingDirectories } from './working-directories.js';

const AT_EMPTY_PATH = 0x1000;
/** Any number below 0 will do. */
const AT_FDCWD = -100;
const TEXT_MODE = 0o444;
const O_ACCMODE = 3;
const O_DIRECTORY = 0o200000;
const O_DIRECTORY_ARM64 = 0o40000;
const ENOTDIR = 20;
const EISDIR = 21;
const ERANGE = 34;
const PATH_BYTES = 4096;
/** What the files of texts are called, before their paths. */
const TEXT_NAME = 'verbena-sysfs:';
const TEXT_DESCRIPTOR = /^\/memfd:verbena-sysfs:(.*) \(deleted\)$/;

/** What of the rest of the launcher these calls need. */
export interface PathCallSurroundings {
  readonly machine: Machine;
  readonly roots: Roots;
  readonly standIns: StandInDirectories;
  /** Numbers of opened folders and texts of ours. */
  readonly directories: DescriptorRange;
  deviceOf(tid: number, fd: number): DeviceNumber | undefined;
  processOf(tid: number): number;
  openDevice(calls: NotifiedCalls, node: DeviceNode): boolean;
}

interface Located {
  readonly path: string;
  readonly node: Node;
}

/** Answers the calls that name files of ours, and lets all others through. */
export class PathCalls {
  readonly #startedS = Math.floor(Date.now() / 1000);
  readonly #identities: Identities;
  readonly #reads: DirectoryReads;
  readonly #working: WorkingDirectories;
  /** Devices by their numbers: `MAJOR:MINOR`. */
  readonly #devices = new Map<string, Located>();

  constructor(private readonly around: PathCallSurroundings) {
    const { roots, standIns } = around;
    const [first = '/'] = [...roots].filter(([, { kind }]) => kind === 'directory').map(([path]) => path);
    const ofKernel = (path: string) =>
      find(roots, path) === 'elsewhere' ? statSync(path, { bigint: true, throwIfNoEntry: false }) : undefined;
    this.#identities = new Identities((path) => standIns.statOf(path), first, ofKernel);
    this.#reads = new DirectoryReads(roots, this.#identities);
    this.#working = new WorkingDirectories((tid) => around.processOf(tid));
    for (const [path, node] of roots) this.#noteDevices(path, node);
  }

  serve(calls: NotifiedCalls, call: PathCall): boolean {
    const { act, other } = call;
    if (act === 'change') {
      const isOurs = this.#isOurs(calls, call) || (other !== undefined && this.#isOurs(calls, other));
      return isOurs ? calls.refuse(Errno.EPERM) : calls.letThrough();
    }
    const path = readText(calls.tid, calls.address(call.path), PATH_BYTES);
    if (path === undefined) return calls.letThrough();
    if (path === '') return this.#serveDescriptor(calls, call);
    const found = this.#find(calls, call, path);
    if (found === 'elsewhere') return this.#serveElsewhere(calls, call, path);
    if (found === 'nothing') return calls.refuse(Errno.ENOENT);
    if (found === 'no folder') return calls.refuse(ENOTDIR);
    if (act === 'open') return this.#open(calls, call, found.path, found.node);
    return this.#answer(calls, call, found);
  }

  #answer(calls: NotifiedCalls, { act, mode, buffer }: PathCall, { path, node }: Located): boolean {
    switch (act) {
      case 'stat':
      case 'statx':
        return this.#tell(calls, calls.address(buffer ?? 0), act, node, path);
      case 'statfs':
        return writeProgram(calls.tid, calls.address(buffer ?? 0), statfsBytes())
          ? calls.answer(0)
          : calls.refuse(Errno.EFAULT);
      case 'access':
        return mayAccess(node, calls.int(mode ?? 0)) ? calls.answer(0) : calls.refuse(Errno.EACCES);
      case 'getxattr':
        return calls.refuse(Errno.EOPNOTSUPP);
      case 'listxattr':
        return calls.answer(0);
      default:
        return calls.refuse(Errno.EINVAL);
    }
  }

  /** `execve`, which is let through unless it would run another file than the path means. @returns whether it was answered */
  refusesToExecute(calls: NotifiedCalls, argument: PathArgument): boolean {
    return this.#isOurs(calls, argument) && calls.refuse(Errno.EACCES);
  }

  /** Whether a path leads to a place of ours, or begins at a working directory that the kernel does not know. */
  #isOurs(calls: NotifiedCalls, argument: PathArgument): boolean {
    const path = readText(calls.tid, calls.address(argument.path), PATH_BYTES);
    if (path === undefined || path === '') return false;
    return this.#find(calls, argument, path) !== 'elsewhere' || this.#isFromOurs(calls, argument, path);
  }

  /** From a working directory that the kernel does not know a path leads to the kernel's files: of these, directories can be looked at. */
  #serveElsewhere(calls: NotifiedCalls, call: PathCall, path: string): boolean {
    if (!this.#isFromOurs(calls, call, path)) return calls.letThrough();
    const place = plain(`${this.#base(calls, call.directory) ?? ''}/${path}`);
    if (call.act === 'open' || !isDirectory(`/proc/${calls.tid}/root${place}`)) return calls.refuse(Errno.ENOENT);
    return this.#answer(calls, call, { path: place, node: { kind: 'directory', entries: new Map() } });
  }

  /** `fstat` of a device, a folder or a text of ours. */
  serveFstat(calls: NotifiedCalls): boolean {
    const found = this.#descriptor(calls.tid, calls.int(0));
    return found === undefined
      ? calls.letThrough()
      : this.#tell(calls, calls.address(1), 'stat', found.node, found.path);
  }

  /** `getdents64`. */
  serveEntries(calls: Calls): boolean {
    const name = descriptorName(calls.tid, calls.int(0));
    return this.#reads.serve(calls, this.around.standIns.pathOfName(name), name);
  }

  /** `chdir`: the kernel does not have our directories, so that a process is in one is remembered here. */
  serveChdir(calls: NotifiedCalls): boolean {
    const path = readText(calls.tid, calls.address(0), PATH_BYTES);
    if (path === undefined || path === '') return calls.letThrough();
    const call: PathArgument = { path: 0 };
    const found = this.#find(calls, call, path);
    if (found === 'nothing' || this.#isFromOurs(calls, call, path)) return calls.refuse(Errno.ENOENT);
    if (found === 'no folder') return calls.refuse(ENOTDIR);
    if (found === 'elsewhere') {
      if (this.#working.of(calls.tid) !== undefined && isDirectory(`/proc/${calls.tid}/root${path}`))
        this.#working.move(calls.tid, undefined);
      return calls.letThrough();
    }
    if (found.node.kind !== 'directory') return calls.refuse(ENOTDIR);
    this.#working.move(calls.tid, found.path);
    return calls.answer(0);
  }

  /** `fchdir`. */
  serveFchdir(calls: NotifiedCalls): boolean {
    this.#working.move(calls.tid, this.around.standIns.pathOf(calls.tid, calls.int(0)));
    return calls.letThrough();
  }

  /** `getcwd`, which gives the length of the path. */
  serveGetcwd(calls: NotifiedCalls): boolean {
    const path = this.#working.of(calls.tid);
    if (path === undefined) return calls.letThrough();
    const bytes = Buffer.from(`${path}\0`, 'latin1');
    if (calls.address(1) < bytes.length) return calls.refuse(ERANGE);
    return writeProgram(calls.tid, calls.address(0), bytes) ? calls.answer(bytes.length) : calls.refuse(Errno.EFAULT);
  }

  /** A program closes a number that may be a folder's. */
  closing(tid: number, fd: number): void {
    this.#reads.forget(tid, fd);
  }

  #find(calls: NotifiedCalls, { directory }: PathArgument, path: string): Found {
    const { roots } = this.around;
    if (path.startsWith('/')) return find(roots, path);
    const base = this.#base(calls, directory);
    return base === undefined ? 'elsewhere' : find(roots, `${base}/${path}`);
  }

  #base(calls: NotifiedCalls, directory: number | undefined): string | undefined {
    const fd = directory === undefined ? AT_FDCWD : calls.int(directory);
    return fd < 0 ? this.#working.of(calls.tid) : this.around.standIns.pathOf(calls.tid, fd);
  }

  /** Whether a path leads out of our directories from a working directory that the kernel does not know. */
  #isFromOurs(calls: NotifiedCalls, { directory }: PathArgument, path: string): boolean {
    if (path.startsWith('/') || (directory !== undefined && calls.int(directory) >= 0)) return false;
    const base = this.#base(calls, directory);
    return base !== undefined && find(this.around.roots, plain(`${base}/${path}`)) === 'elsewhere';
  }

  #serveDescriptor(calls: NotifiedCalls, { act, directory, flags, buffer }: PathCall): boolean {
    const mayBeEmpty = flags !== undefined && (calls.int(flags) & AT_EMPTY_PATH) !== 0;
    if (!mayBeEmpty || directory === undefined || (act !== 'stat' && act !== 'statx')) return calls.letThrough();
    const found = this.#descriptor(calls.tid, calls.int(directory));
    if (found === undefined) return calls.letThrough();
    return this.#tell(calls, calls.address(buffer ?? 0), act, found.node, found.path);
  }

  /** What of ours a program's descriptor stands for. */
  #descriptor(tid: number, fd: number): Located | undefined {
    const device = this.around.deviceOf(tid, fd);
    if (device !== undefined) return this.#devices.get(`${device.major}:${device.minor}`);
    if (!isWithin(this.around.directories, fd)) return undefined;
    const name = descriptorName(tid, fd);
    const path = this.around.standIns.pathOfName(name) ?? TEXT_DESCRIPTOR.exec(name ?? '')?.[1];
    const found = path === undefined ? 'elsewhere' : find(this.around.roots, path);
    return typeof found === 'string' ? undefined : found;
  }

  #noteDevices(path: string, node: Node): void {
    if (node.kind === 'device') this.#devices.set(`${node.major}:${node.minor}`, { path, node });
    if (node.kind !== 'directory') return;
    for (const [name, below] of node.entries) this.#noteDevices(`${path}/${name}`, below);
  }

  #tell(calls: NotifiedCalls, address: number, act: 'stat' | 'statx', node: Node, path: string): boolean {
    const facts = { node, identity: this.#identities.of(path), changedS: this.#startedS };
    const bytes = act === 'stat' ? statBytes(this.around.machine, facts) : statxBytes(facts);
    return writeProgram(calls.tid, address, bytes) ? calls.answer(0) : calls.refuse(Errno.EFAULT);
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
        return writes ? calls.refuse(Errno.EACCES) : this.#openText(calls, path, node.text());
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
    this.#reads.forget(calls.tid, at);
    const given = calls.answerWithFd(fd, at) >= 0;
    closeSync(fd);
    return given || calls.refuse(Errno.EMFILE);
  }

  /** Each open makes a file of its own: what a program reads from it does not change meanwhile. */
  #openText(calls: NotifiedCalls, path: string, text: string): boolean {
    const { standIns, directories } = this.around;
    const file = new MemoryFile(`${TEXT_NAME}${path}`);
    writeSync(file.fd, text, 0);
    fchmodSync(file.fd, TEXT_MODE);
    const fd = openSync(`/proc/self/fd/${file.fd}`, constants.O_RDONLY);
    file.close();
    // Where no number of ours is free, the kernel tells what it has of the file.
    const given = calls.answerWithFd(fd, freeDescriptor(standIns, calls.tid, directories)) >= 0;
    closeSync(fd);
    return given || calls.refuse(Errno.EMFILE);
  }
}

/** A number that no file has in that program. */
function freeDescriptor(
  standIns: StandInDirectories,
  tid: number,
  { first, end }: DescriptorRange,
): number | undefined {
  for (let fd = first; fd < end; fd += 1) if (!standIns.isTaken(tid, fd)) return fd;
  return undefined;
}

function isDirectory(place: string): boolean {
  try {
    return statSync(place).isDirectory();
  } catch {
    return false;
  }
}
