import type { Timers } from './pending.js';
import { timedOut, type WaitOptions } from './wait-options.js';

/** What `wait` gives, unless its signal comes first: the program's, or that of a time limit. */
export async function waitUnlessLate<T>(
  call: string,
  { signal, timeoutMs = Infinity }: WaitOptions,
  timers: Timers,
  wait: (signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  if (timeoutMs === Infinity) return wait(signal);
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const stopTimer = timers.timer(timeoutMs, () => controller.abort(timedOut(call, timeoutMs)));
  try {
    return await wait(controller.signal);
  } finally {
    stopTimer();
    signal?.removeEventListener('abort', abort);
  }
}
