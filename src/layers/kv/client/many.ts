import { KvManyError } from '../errors.js';

/**
 * What several calls have given, in their order, once none is under way any more.
 *
 * @throws KvManyError when some have failed; the signal's reason when that is why
 */
export async function allOf<T>(
  call: string,
  promises: readonly Promise<T>[],
  signal: AbortSignal | undefined,
): Promise<T[]> {
  const results: T[] = [];
  const failures = new Map<number, unknown>();
  const settled = await Promise.allSettled(promises);
  for (const [index, outcome] of settled.entries())
    if (outcome.status === 'fulfilled') results.push(outcome.value);
    else failures.set(index, outcome.reason);
  if (failures.size === 0) return results;
  if (signal?.aborted === true && [...failures.values()].includes(signal.reason)) throw signal.reason;
  throw new KvManyError(call, promises.length, failures);
}
