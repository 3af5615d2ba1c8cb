/** Where inboxes are: a directory of the user's own in memory, which no other user can put anything into. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Gid } from '../../../device/ibta/index.js';
import { lockFile, nativeHostProblem, randomU32 } from '../../system/index.js';

/** Files here are memory, and nothing but memory. */
const MEMORY_DIRECTORY = '/dev/shm';
const SCRATCH = '.';

/** Where the inboxes of this user are, of addresses as this process sees them. */
export interface InboxDirectory {
  readonly path: string;
  /** Addresses mean something within one network namespace only. */
  readonly namespace: string;
}

/** Why there are none, as half a sentence. */
export interface NoInboxes {
  readonly problem: string;
}

function ownUser(): number {
  return process.geteuid?.() ?? -1;
}

/** Whether a file or directory is the user's own, and nobody else gets at it. */
export function isPrivate({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  return uid === ownUser() && (mode & 0o077) === 0;
}

function networkNamespace(): string | undefined {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/net'))?.[0];
  } catch {
    return undefined;
  }
}

/** The directory, made when it was not there. */
export function inboxDirectory(parent = MEMORY_DIRECTORY): InboxDirectory | NoInboxes {
  const native = nativeHostProblem();
  if (native !== undefined) return { problem: `there are no system calls here (${native})` };
  const namespace = networkNamespace();
  if (namespace === undefined) return { problem: '/proc does not tell which network namespace this is' };
  const path = join(parent, `verbena-${ownUser()}`);
  try {
    if (!statSync(parent).isDirectory()) return { problem: `${parent} is no directory` };
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const found = lstatSync(path);
    if (!found.isDirectory()) return { problem: `${path} is no directory` };
    if (!isPrivate(found)) return { problem: `${path} is another user's, or open to others: remove it` };
  } catch (error) {
    return { problem: `${path} cannot be had: ${error instanceof Error ? error.message : String(error)}` };
  }
  return { path, namespace };
}

export function inboxPath(directory: InboxDirectory, gid: Gid): string {
  return join(directory.path, `${directory.namespace}-${Buffer.from(gid).toString('hex')}`);
}

/** A name for a file that is not an inbox yet. */
export function scratchPath(directory: InboxDirectory, nonce: number): string {
  return join(directory.path, `${SCRATCH}${process.pid}-${nonce >>> 0}`);
}

/** Nobody takes so long to lock what it has just made. */
const SETTLED_MS = 10_000;

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Removes what processes that were killed left behind: files that nobody holds. What cannot be looked at is left alone. */
export function sweep(directory: InboxDirectory): void {
  for (const name of namesIn(directory.path)) {
    try {
      sweepFile(join(directory.path, name), scratchPath(directory, randomU32()));
    } catch {
      // Gone since, or not ours.
    }
  }
}

function sweepFile(path: string, aside: string): void {
  const fd = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { ino, mtimeMs } = fstatSync(fd);
    // The age comes first: to ask for the lock takes it, for a moment in which whoever has just made the file wants it.
    if (Date.now() - mtimeMs < SETTLED_MS || !lockFile(fd)) return;
    // Another file may have come to this place since.
    renameSync(path, aside);
    if (statSync(aside).ino === ino) rmSync(aside);
    else renameSync(aside, path);
  } finally {
    closeSync(fd);
  }
}
