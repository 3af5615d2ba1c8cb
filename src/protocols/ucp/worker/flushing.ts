import type { Timers, WaitOptions } from '../../core/index.js';
import { UcpPending } from './waiting.js';

/** A flush that a program may give up. */
class Flushing extends UcpPending<void> {
  protected onGivenUp(): void {
    // The flush goes on, and nobody is told.
  }
}

/** The same promise, which rejects as well when the program gives up. */
export function patiently(call: string, flush: Promise<void>, options: WaitOptions, timers: Timers): Promise<void> {
  const flushing = new Flushing(call);
  flushing.heed(options, timers);
  flush.then(
    () => flushing.resolve(),
    (error: unknown) => flushing.reject(error),
  );
  return flushing.promise;
}
