import { runtime } from '../../../api/runtime/index.js';

/** Resolves in so many ms, or when the signal comes. It does not keep the process alive. */
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      stop();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const stop = runtime().chore(delayMs, end);
    signal.addEventListener('abort', end, { once: true });
  });
}
