import type { Context } from '../verbs/index.js';
import { SoftContext } from './driver/context.js';
import { currentMachine } from './machine.js';

/**
 * Calls `action` in so many milliseconds: of virtual time where the device is simulated, or the program runs on a simulated
 * host. Keeps the process alive until then.
 *
 * @returns takes it back
 */
export function startTimer(context: Context | undefined, delayMs: number, action: () => void): () => void {
  const device = context ?? currentMachine()?.devices()[0];
  const cancel = device instanceof SoftContext ? device.adapter.after?.(delayMs * 1000, action) : undefined;
  if (cancel !== undefined) return cancel;
  const timer = setTimeout(action, delayMs);
  return () => clearTimeout(timer);
}
