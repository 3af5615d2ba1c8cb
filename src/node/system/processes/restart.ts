import { type NativeHost, requireNativeHost } from '../native.js';

/** Number of the call `ptrace`, by Node's name of the processor. */
const PTRACE: Readonly<Record<string, number | undefined>> = { x64: 101, arm64: 117 };
const PTRACE_DETACH = 17;
const PTRACE_SEIZE = 0x4206;
const PTRACE_INTERRUPT = 0x4207;
const ESRCH = 3;
/** A thread stops within microseconds when there is a processor for it. */
const TRIES = 20;

/** A thread that {@link callRestart} has interrupted. */
export interface Restart {
  /** Lets the thread continue, as soon as it has stopped. @returns false while it has not */
  finish(): boolean;
}

/**
 * Interrupts the call that a thread is blocked in, so that the kernel restarts it. The program notices nothing: no signal is
 * delivered. For a call that the kernel does not restart (`epoll_wait`) it returns EINTR, so look first.
 *
 * @returns what is left to do, or undefined where the thread cannot be traced: a debugger traces it, or it is gone
 */
export function callRestart(tid: number): Restart | undefined {
  const native = requireNativeHost();
  const ptrace = (request: number): number => native.libc.syscall(PTRACE[process.arch] ?? -1, request, tid, 0, 0);
  if (ptrace(PTRACE_SEIZE) < 0) return undefined;
  ptrace(PTRACE_INTERRUPT);
  const restart = { finish: () => ptrace(PTRACE_DETACH) === 0 || isGone(native, tid) };
  for (let i = 0; i < TRIES && !restart.finish(); i += 1) native.libc.schedYield();
  return restart;
}

/** To detach fails with ESRCH also from a thread that has not stopped yet. */
function isGone(native: NativeHost, tid: number): boolean {
  return native.libc.syscall(PTRACE[process.arch] ?? -1, PTRACE_INTERRUPT, tid, 0, 0) < 0 && native.errno() === ESRCH;
}
