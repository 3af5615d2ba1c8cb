/** Dying by SIGKILL in the midst of something. */
import type { Moment } from './protocol.js';

/** Moments at which the program that is to die must go on for a while, for something to happen. */
const SLOW: readonly Moment[] = ['connect', 'accept', 'close'];

let armed: { readonly moment: Moment; readonly delayMs: number } | undefined;

export function arm(moment: Moment, delayMs: number): void {
  armed = { moment, delayMs };
}

/** The moment that somebody is to die at: a program may see to it that it comes. */
export function fatalMoment(): Moment | undefined {
  return armed?.moment;
}

/** To be called at each such moment. Those who are not to die there return from it. */
export function at(moment: Moment): void {
  if (armed?.moment !== moment) return;
  const { delayMs } = armed;
  armed = undefined;
  if (SLOW.includes(moment)) {
    setTimeout(die, delayMs);
    return;
  }
  // The NIC's thread goes on with what it was given; a NIC in this thread has done a part of it.
  const end = performance.now() + delayMs / 4;
  while (performance.now() < end);
  die();
}

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}
