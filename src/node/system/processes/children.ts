import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { NativeBlock } from '../memory/memory.js';
import { requireNativeHost } from '../native.js';

/** The same number on every machine. */
const PIDFD_OPEN = 434;

/**
 * A descriptor that is readable once a process has ended.
 *
 * @returns -1 when it has ended already, or no descriptor is left
 */
export function watchProcess(pid: number): number {
  return requireNativeHost().libc.syscall(PIDFD_OPEN, pid, 0, 0, 0);
}

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
const ANY_CHILD = -1;
/** Number of the call `wait4`, by Node's name of the processor. */
const WAIT4: Readonly<Record<string, number | undefined>> = { x64: 61, arm64: 260 };
const SIGNAL_BITS = 0x7f;
/** The signal bits of a thread that has not ended: it is stopped, since we trace it. */
const STOPPED = 0x7f;

/**
 * Has this process adopt those of its descendants whose parents end, in place of process 1: it so stays an ancestor of all that it has
 * started, which Yama asks of whoever looks at their memory, and has no child left exactly when none of them is left.
 */
export function adoptOrphans(): void {
  requireNativeHost().libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/**
 * The children of the main thread, also those that have ended and were not waited for: orphans that were adopted, and what a thread has
 * started that is gone. None where the kernel does not tell (CONFIG_PROC_CHILDREN).
 */
export function childrenOfMainThread(): readonly number[] {
  try {
    const text = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** A child that has ended, as `wait` tells it. */
export interface EndedChild {
  readonly pid: number;
  /** As a shell has it: 128 and more where a signal has ended it. */
  readonly code: number;
  /** The signal that has ended it, where it was one with a name. */
  readonly signal: NodeJS.Signals | null;
}

/**
 * Takes leave of one child that has ended, whichever thread has started it. Not for processes with children of Node's `child_process`,
 * which would never learn of it.
 *
 * @returns it, or whether there are others that have not ended
 */
export function waitForChild(): EndedChild | 'none ended' | 'none left' {
  const status = new NativeBlock(8);
  const pid = requireNativeHost().libc.syscall(WAIT4[process.arch] ?? -1, ANY_CHILD, status.address, WNOHANG, 0);
  if (pid === 0) return 'none ended';
  if (pid < 0) return 'none left';
  const number = status.words[0] & SIGNAL_BITS;
  if (number === STOPPED) return waitForChild();
  if (number === 0) return { pid, code: (status.words[0] >> 8) & 0xff, signal: null };
  return { pid, code: 128 + number, signal: nameOfSignal(number) };
}

function nameOfSignal(number: number): NodeJS.Signals | null {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  // The keys of Node's table of signals.
  return (found?.[0] as NodeJS.Signals | undefined) ?? null;
}
