/** Processor time from /proc: of a process with all its threads, or of programs that have ended. */
import { readdirSync, readFileSync } from 'node:fs';

/** USER_HZ, which Linux has fixed at 100 for all that /proc shows. */
const MS_PER_TICK = 10;

/** proc(5): the fields from the third on, after a name that may hold anything. */
function fieldsOf(pid: number | 'self'): readonly string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function ticks(fields: readonly string[], user: number): number {
  // The first that is left is number 3 of the manual's.
  return Number(fields[user - 3]) + Number(fields[user - 2]);
}

/** Milliseconds, user's and system's, that a process has used, to 10 ms. */
export function processorTimeMs(pid: number | 'self'): number {
  return ticks(fieldsOf(pid), 14) * MS_PER_TICK;
}

/** Milliseconds that all programs have used, to 10 ms, which this process started, and which have ended. */
export function endedProgramsMs(): number {
  return ticks(fieldsOf('self'), 16) * MS_PER_TICK;
}

/** Milliseconds that the threads of a process have used which it has now, to the nanosecond. */
export function threadsTimeMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  // The first number is the time on a processor, in ns.
  const ns = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]),
  );
  return ns.reduce((sum, one) => sum + one, 0) / 1e6;
}
