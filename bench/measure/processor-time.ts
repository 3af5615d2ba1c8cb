/** Processor time from /proc, in ticks of 10 ms: of a process with all its threads, or of programs that have ended. */
import { readFileSync } from 'node:fs';

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

/** Milliseconds, user's and system's, that a process has used. */
export function processorTimeMs(pid: number | 'self'): number {
  return ticks(fieldsOf(pid), 14) * MS_PER_TICK;
}

/** Milliseconds that all programs have used which this process started, and which have ended. */
export function endedProgramsMs(): number {
  return ticks(fieldsOf('self'), 16) * MS_PER_TICK;
}
