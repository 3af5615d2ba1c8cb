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
