import { whenAborted } from '../../../api/runtime/index.js';
import type { Timers } from './pending.js';
import { timedOut, type WaitOptions } from './wait-options.js';

/**
 * What `wait` gives, unless its signal comes first: the program's, or that of a time limit.
 *
 * @param reasonOf why it rejects when the time is over
 */
export async function waitUnlessLate<T>(
  call: string,
  { signal, timeoutMs = Infinity }: WaitOptions,
  timers: Timers,
  wait: (signal?: AbortSignal) => Promise<T>,
  reasonOf: (call: string, timeoutMs: number) => Error = timedOut,
): Promise<T> {
  if (timeoutMs === Infinity) return wait(signal);
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  const stopListening = signal === undefined ? undefined : whenAborted(signal, abort);
  const stopTimer = timers.timer(timeoutMs, () => controller.abort(reasonOf(call, timeoutMs)));
  try {
    return await wait(controller.signal);
  } finally {
    stopTimer();
    stopListening?.();
  }
}

/** What a promise gives, unless the signal comes first: then its reason. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    const settled = whenAborted(signal, abort);
    promise.then(resolve, reject).then(settled, settled);
  });
}
