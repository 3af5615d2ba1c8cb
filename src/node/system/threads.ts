import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { NativeBlock } from './memory/memory.js';
import { requireNativeHost } from './native.js';

/** The calling thread as the system knows it, to be looked for by others of the process: undefined where nobody tells. */
export function ownThread(): string | undefined {
  try {
    const [, , number = ''] = readlinkSync('/proc/thread-self').split('/');
    return `${number} ${startOf(number)}`;
  } catch {
    return undefined;
  }
}

/** Whether a thread of this process is there, by what {@link ownThread} gave it; true where nobody can tell. */
export function isThreadThere(thread: string | undefined): boolean {
  if (thread === undefined) return true;
  const [number = '', start] = thread.split(' ');
  try {
    // Another one may have the number by now.
    return startOf(number) === start;
  } catch {
    return false;
  }
}

/** When a thread was started, in ticks since the machine was: field 22 of proc(5)'s `stat`, whose second may hold anything. */
function startOf(number: string): string {
  const stat = readFileSync(`/proc/self/task/${number}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** Filters of a thread, of which it may have some since before it was ours. */
function filtersOf(thread: string): number {
  const status = readFileSync(`/proc/self/task/${thread}/status`, 'latin1');
  return Number(/^Seccomp_filters:\s*(\d+)/m.exec(status)?.[1] ?? 0);
}

/** Threads of this process that have more filters for system calls than the main thread: names with numbers. */
export function threadsUnderFilter(): readonly string[] {
  try {
    const usual = filtersOf(String(process.pid));
    return readdirSync('/proc/self/task')
      .filter((thread) => filtersOf(thread) > usual)
      .map((thread) => `${readFileSync(`/proc/self/task/${thread}/comm`, 'latin1').trim()} (${thread})`);
  } catch {
    // One has just ended.
    return [];
  }
}

const SIG_SETMASK = 2;
/** `sigset_t` of the C library. */
const SET_BYTES = 128;

const sets = { all: undefined as NativeBlock | undefined, before: undefined as NativeBlock | undefined };

/** Lets no signal reach the calling thread from now on. Signals of the process go to its other threads. */
export function blockSignals(): void {
  const all = (sets.all ??= new NativeBlock(SET_BYTES));
  all.words.fill(-1);
  requireNativeHost().libc.sigmask(SIG_SETMASK, all.address, 0);
}

/** Does something during which no signal reaches the calling thread. Those that come meanwhile come afterwards. */
export function withoutSignals<T>(action: () => T): T {
  const { libc } = requireNativeHost();
  const all = (sets.all ??= new NativeBlock(SET_BYTES));
  const before = (sets.before ??= new NativeBlock(SET_BYTES));
  all.words.fill(-1);
  libc.sigmask(SIG_SETMASK, all.address, before.address);
  try {
    return action();
  } finally {
    libc.sigmask(SIG_SETMASK, before.address, 0);
  }
}
