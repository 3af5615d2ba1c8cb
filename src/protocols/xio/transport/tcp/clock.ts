import { runtime } from '../../../../api/runtime/index.js';
import type { Clock } from '../index.js';

/** Real time. */
export const realClock: Clock = {
  nowUs: () => performance.now() * 1000,
  timer: (delayMs, action) => runtime().timer(delayMs, action),
  chore: (delayMs, action) => runtime().chore(delayMs, action),
};
