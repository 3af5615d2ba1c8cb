/** Telling the event loop that a file descriptor became readable. */
import { nativeHost } from '../native.js';
import { LoopWatch } from './loop-watch.js';
import { watchByPool } from './pool-watch.js';
import type { ReadableWatch } from './readable-watch.js';

/**
 * Watches a descriptor for the event loop of this thread. Nothing happens before {@link ReadableWatch.arm}. In the main thread
 * libuv does it itself; there a descriptor has one watch at a time.
 *
 * In a worker libuv cannot: a descriptor that is readable while the worker is being terminated, of which no event tells, makes
 * koffi's handles call into a dead environment, which aborts the process.
 *
 * @throws Error when there are no native calls
 */
export function watchReadable(fd: number, callback: () => void): ReadableWatch {
  const native = nativeHost();
  return native?.pollHandle === undefined ? watchByPool(fd, callback) : new LoopWatch(native, fd, callback);
}
