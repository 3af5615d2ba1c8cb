import { runtime } from '../runtime/index.js';
import type { Context } from '../verbs/index.js';
import { currentProvider } from './current-provider.js';
import { providedContext, startTimer } from './provider.js';

/**
 * Calls `action` in so many milliseconds: of virtual time where the device is simulated, or the program runs on a simulated
 * host. Keeps the process alive until then.
 *
 * @returns takes it back
 */
export function after(context: Context | undefined, delayMs: number, action: () => void): () => void {
  const device = context ?? currentProvider().fixedDevices()?.[0];
  const ofDevice = device && providedContext(device, 'rdma_create_event_channel')[startTimer](delayMs, action);
  return ofDevice ?? runtime().timer(delayMs, action);
}
