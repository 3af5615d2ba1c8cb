import { readFileSync, readlinkSync } from 'node:fs';

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
