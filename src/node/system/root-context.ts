import { AsyncResource } from 'node:async_hooks';

/** Made when the program loads the package, and so in the context of no request. */
const root = new AsyncResource('verbena');

/**
 * Calls a function in the async context in which the program loaded this package. All that waits on behalf of a whole device starts so: it
 * neither holds what `AsyncLocalStorage` has for the caller that happened to start it, nor hands that on to others.
 */
export function inRootContext<Arguments extends unknown[], R>(
  action: (...args: Arguments) => R,
  ...args: Arguments
): R {
  return root.runInAsyncScope(action, undefined, ...args);
}
