import { VerbsError } from '../../../api/verbs/index.js';
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
  throwIfGivenUp(signal, [...failures.values()]);
  throw new KvManyError(call, promises.length, failures);
}

/**
 * Where the program has given up, that is all it is told. What a limit of time has ended is told of each, since the others were done.
 *
 * @throws the signal's reason when calls have failed for that
 */
export function throwIfGivenUp(signal: AbortSignal | undefined, failures: readonly unknown[]): void {
  if (signal?.aborted !== true || !failures.includes(signal.reason)) return;
  const isLate = signal.reason instanceof VerbsError && signal.reason.errno === 'ETIMEDOUT';
  if (!isLate) throw signal.reason;
}
