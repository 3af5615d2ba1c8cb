import { setImmediate } from 'node:timers/promises';
import { VerbsError } from '../../../entry/index.js';

const SLICE_MS = 50;

/**
 * Waits as long as it takes by a call that blocks the thread. It blocks for moments only, since signals, Ctrl-C among
 * them, arrive in the event loop.
 */
export async function patiently<Result>(wait: (timeoutMs: number) => Result): Promise<Result> {
  for (;;) {
    try {
      return wait(SLICE_MS);
    } catch (error) {
      if (!(error instanceof VerbsError && error.errno === 'ETIMEDOUT')) throw error;
    }
    await setImmediate();
  }
}
