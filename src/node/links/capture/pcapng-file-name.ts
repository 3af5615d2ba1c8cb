/** Which file a capture goes to, so that no two programs ever write into one. */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { parse, join } from 'node:path';
import type { ErrnoName } from '../../../device/ibta/index.js';
import { codeOf, errnoNameOf, LinkError } from '../../../device/link/index.js';

/** What a capture says of its program; also how others know whether somebody is still writing. */
export function applicationName(): string {
  return `verbena (pid ${process.pid} on ${hostname()})`;
}

/** Enough to hold the section header with the application's name. */
const HEAD_BYTES = 1024;
const SECTION_HEADER = [0x0a, 0x0d, 0x0d, 0x0a] as const;
/** Between the moment a file is there and the moment its first bytes are. */
const CREATION_MS = 20;
const MAX_SUFFIX = 1000;

export interface OpenCapture {
  readonly fd: number;
  readonly path: string;
  /** Not a pipe or a device: can be cut back. */
  readonly isFile: boolean;
  readonly renamed: boolean;
}

function head(fd: number): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES);
  return bytes.subarray(0, readSync(fd, bytes, 0, HEAD_BYTES, 0));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

/** Whether the file may be written over: it is empty, or a capture of ours whose program is gone. */
function isAbandoned(path: string, fd: number): boolean {
  let bytes = head(fd);
  if (bytes.length === 0) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, CREATION_MS);
    bytes = head(fd);
    if (bytes.length === 0) return true;
  }
  if (!SECTION_HEADER.every((byte, i) => bytes[i] === byte)) {
    throw new LinkError('EEXIST', `${path} exists and is not a capture: it is not written over. Choose another name.`);
  }
  const mark = /verbena \(pid (\d+) on ([^)]*)\)/.exec(bytes.toString('latin1'));
  if (mark === null) return false;
  const [, pid, host] = mark;
  return host === hostname() && Number(pid) !== process.pid && !isAlive(Number(pid));
}

function withSuffix(path: string, suffix: string): string {
  const { dir, name, ext } = parse(path);
  return join(dir, `${name}.${suffix}${ext}`);
}

/** Undefined when the file is there already. */
function create(path: string): number | undefined {
  try {
    return openSync(path, 'wx');
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

const { O_RDWR, O_WRONLY } = constants;
/** Where there are no pipes and no terminals to wait for, there are no such flags. */
const O_NONBLOCK = (constants.O_NONBLOCK as number | undefined) ?? 0;
const O_NOCTTY = (constants.O_NOCTTY as number | undefined) ?? 0;

/** Refuses what somebody else has put there: it is theirs to read, and in a directory like /tmp anybody can. */
function checkOwner(path: string, found: Stats): void {
  const { uid } = found;
  // Only root makes devices.
  if (uid === (process.geteuid?.() ?? uid) || found.isCharacterDevice()) return;
  throw new LinkError('EACCES', `${path} belongs to user ${uid}, who could read the packets. Choose another name.`);
}

/** Opens what is there, so that nobody can have another file put in its place meanwhile. */
function openExisting(path: string, found: Stats): OpenCapture | undefined {
  // A pipe, to Wireshark perhaps, or a terminal: its reader is never waited for, not for its coming either.
  const isFile = found.isFile();
  const fd = openSync(path, (isFile ? O_RDWR : O_WRONLY) | O_NONBLOCK | O_NOCTTY);
  try {
    const opened = fstatSync(fd);
    checkOwner(path, opened);
    if (opened.isFile() !== isFile) throw new LinkError('EEXIST', `${path} was replaced just now. Try again.`);
    if (!isFile) return { fd, path, isFile, renamed: false };
    if (isAbandoned(path, fd)) {
      ftruncateSync(fd, 0);
      return { fd, path, isFile, renamed: false };
    }
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  closeSync(fd);
  return undefined;
}

function openOrRename(path: string): OpenCapture {
  const fd = create(path);
  if (fd !== undefined) return { fd, path, isFile: true, renamed: false };
  const existing = openExisting(path, statSync(path));
  if (existing !== undefined) return existing;
  for (let n = 1; n < MAX_SUFFIX; n += 1) {
    const other = withSuffix(path, n === 1 ? `${process.pid}` : `${process.pid}-${n}`);
    const otherFd = create(other);
    if (otherFd !== undefined) return { fd: otherFd, path: other, isFile: true, renamed: true };
  }
  throw new LinkError('EEXIST', `${path} and ${MAX_SUFFIX - 1} names like it are in use.`);
}

/** For codes that verbs have no name for. */
const NEAREST_ERRNO: Readonly<Record<string, ErrnoName>> = {
  EDQUOT: 'ENOSPC',
  EISDIR: 'EINVAL',
  ENOTDIR: 'EINVAL',
  ENXIO: 'EAGAIN',
  EROFS: 'EACCES',
};

/** A sentence on why a capture cannot be written. */
export function captureError(path: string, error: unknown): LinkError {
  if (error instanceof LinkError) return error;
  const code = codeOf(error);
  const because: Record<string, string> = {
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is used up',
    EFBIG: 'it has reached the size that a file may have (ulimit -f)',
    EACCES: 'no permission to write there',
    EPERM: 'no permission to write there',
    EROFS: 'the file system is read-only',
    ENOENT: 'its folder does not exist',
    ENOTDIR: 'its folder is a file',
    EISDIR: `it is a folder. Name a file in it, such as ${join(path, 'capture.pcapng')}`,
    ENXIO: 'nobody reads from the pipe yet. Start its reader first',
    EPIPE: 'nobody reads from the pipe any more',
  };
  const reason = because[code] ?? (error instanceof Error ? error.message : String(error));
  const errno = NEAREST_ERRNO[code] ?? errnoNameOf(code);
  return new LinkError(errno, `the capture ${path} cannot be written: ${reason}.`, { cause: error });
}

/**
 * Opens the file of a capture. `%p` in the name becomes the process's number. A capture that a program which is gone left
 * there is written over; one in use is left alone, and this program's goes to a file beside it, with the process's number
 * in its name.
 *
 * @throws LinkError
 */
export function openCapture(name: string): OpenCapture {
  const path = name.replaceAll('%p', `${process.pid}`);
  try {
    return openOrRename(path);
  } catch (error) {
    throw captureError(path, error);
  }
}
