import { readFileSync } from 'node:fs';
import { requireNativeHost } from '../native.js';

const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
/** Number of the call `wait4`, by Node's name of the processor. */
const WAIT4: Readonly<Record<string, number | undefined>> = { x64: 61, arm64: 260 };

/** Children of the main thread, which is who adopts orphans. */
function childrenOfMainThread(): readonly number[] {
  const text = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1');
  return text.split(' ').filter(Boolean).map(Number);
}

/**
 * Has this process adopt those of its descendants whose parents end, in place of process 1: it so stays an ancestor of all that it has
 * started, which Yama asks of whoever looks at their memory, and knows them ({@link orphans}). It has to wait for them then:
 * {@link reapOrphans} at each SIGCHLD. The main thread must have started nothing itself.
 *
 * @returns false on a kernel that does not tell of children (CONFIG_PROC_CHILDREN): then nothing has changed
 */
export function adoptOrphans(): boolean {
  try {
    childrenOfMainThread();
  } catch {
    return false;
  }
  return requireNativeHost().libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0;
}

/** The processes that were adopted, also those that have ended and were not reaped. */
export function orphans(): readonly number[] {
  try {
    return childrenOfMainThread();
  } catch {
    return [];
  }
}

/** Lets go of those that have ended. */
export function reapOrphans(): void {
  const { libc } = requireNativeHost();
  const call = WAIT4[process.arch];
  if (call === undefined) return;
  for (const pid of orphans()) libc.syscall(call, pid, 0, WNOHANG, 0);
}
