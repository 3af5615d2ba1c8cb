import { type Life, runtime } from '../../runtime/index.js';
import type { Context } from '../../verbs/index.js';

/** Keeps the process alive until it ends. In a simulation nothing comes of waiting: time passes for those who wait. */
export function keepAlive(context: Context | undefined): Life | undefined {
  return context?.host === 'simulated' ? undefined : runtime().keepAlive();
}
