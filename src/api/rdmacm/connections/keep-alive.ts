import type { Context } from '../../verbs/index.js';

/** The longest that a timer of Node's can wait. */
const LONG_MS = 2 ** 31 - 1;

/** Keeps the process alive until it is cleared. In a simulation nothing comes of waiting: time passes for those who wait. */
export function keepAlive(context: Context | undefined): NodeJS.Timeout | undefined {
  return context?.host === 'simulated' ? undefined : setInterval(() => undefined, LONG_MS);
}
