import { runtime } from './current.js';

let pending = 0;

/** As `Runtime.nextRound`, for a program's own work: simulations let no time pass before it is done. */
export function nextProgramRound(action: () => void): void {
  pending += 1;
  runtime().nextRound(() => {
    pending -= 1;
    action();
  });
}

/** Whether a program waits for a round of the event loop. */
export function isProgramRoundDue(): boolean {
  return pending > 0;
}
