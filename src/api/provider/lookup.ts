import type { Context } from '../verbs/index.js';
import { currentProvider } from './current-provider.js';
import { lookupName, providedContext } from './provider.js';

/**
 * Addresses of a name: as the host of a simulated device knows it, whoever calls; for any other device as the caller's machine does.
 *
 * @throws (the promise rejects) VerbsError as `Provider.lookup`
 */
export function lookUpFrom(
  context: Context | undefined,
  call: string,
  name: string,
  family: 4 | 6 | undefined,
): Promise<readonly string[]> {
  const ofDevice = context && providedContext(context, call)[lookupName]?.(call, name, family);
  return ofDevice ?? currentProvider().lookup(call, name, family);
}

/** Whether the host of a device knows names itself: then a lookup takes none of the device's time. */
export function knowsNames(context: Context | undefined): boolean {
  return context !== undefined && providedContext(context, 'rdma_getaddrinfo')[lookupName] !== undefined;
}
