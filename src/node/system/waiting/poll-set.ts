import { NativeBlock } from '../memory/memory.js';
import { type NativeHost, nativeHost, requireNativeHost } from '../native.js';
import { LoopWatch, type ReadableWatch } from './loop-watch.js';
import { watchByPool } from './pool-watch.js';

/** Telling the event loop that a file descriptor became readable. */

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

const POLLIN = 1;
const POLLHUP = 16;
/** `struct pollfd`: int fd, short events, short revents. */
const ENTRY_BYTES = 8;

/** File descriptors to sleep on until one of them can be read. */
export class PollSet {
  readonly #native: NativeHost;
  readonly #count: number;
  readonly #entries: NativeBlock;
  readonly #timeout = new NativeBlock(16);

  constructor(fds: readonly number[]) {
    this.#native = requireNativeHost();
    this.#count = fds.length;
    this.#entries = new NativeBlock(fds.length * ENTRY_BYTES);
    fds.forEach((fd, i) => {
      this.#entries.words[2 * i] = fd;
      this.#entries.words[2 * i + 1] = POLLIN;
    });
  }

  /**
   * Blocks the thread until a descriptor is readable (or broken), a signal arrives, or the time is up.
   *
   * @param timeoutUs 0 or less only looks; Infinity waits for ever
   * @returns how many descriptors are ready
   */
  wait(timeoutUs: number): number {
    let timeout = 0;
    if (timeoutUs < Infinity) {
      const waitUs = Math.max(0, timeoutUs);
      const seconds = Math.floor(waitUs / 1_000_000);
      this.#timeout.putPointer(0, seconds);
      this.#timeout.putPointer(8, Math.floor((waitUs - seconds * 1_000_000) * 1000));
      timeout = this.#timeout.address;
    }
    const ready = this.#native.libc.ppoll(this.#entries.address, this.#count, timeout, 0);
    return Math.max(0, ready);
  }

  /** Whether the descriptor given at `index` was ready when {@link wait} returned. */
  isReady(index: number): boolean {
    return this.#entries.words[2 * index + 1] >>> 16 !== 0;
  }

  /** The same, and not for being broken. */
  isReadable(index: number): boolean {
    return ((this.#entries.words[2 * index + 1] >>> 16) & POLLIN) !== 0;
  }

  /** Whether nobody is left at the other end of it. */
  isHungUp(index: number): boolean {
    return ((this.#entries.words[2 * index + 1] >>> 16) & POLLHUP) !== 0;
  }
}
