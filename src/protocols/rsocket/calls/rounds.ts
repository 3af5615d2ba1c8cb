import { yieldRound } from '../../../api/runtime/index.js';

/** One call in so many lets the event loop have a turn, however little it has to wait: a loop of microtasks would starve all others. */
const CALLS_PER_ROUND = 64;

let calls = 0;

/** Is awaited by calls that had nothing to wait for. */
export function perhapsNextRound(): Promise<void> | undefined {
  calls = (calls + 1) % CALLS_PER_ROUND;
  return calls === 0 ? new Promise((resolve) => yieldRound(resolve)) : undefined;
}
