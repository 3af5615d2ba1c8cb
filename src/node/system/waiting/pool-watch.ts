import { NativeBlock } from '../memory/memory.js';
import { type NativeHost, requireNativeHost } from '../native.js';
import { inRootContext, type ReadableWatch } from './loop-watch.js';
import { EventFd } from './event-fd.js';

const POLLIN = 1;
/** A thread cannot end before the native call returns, so no call lasts longer, even when nothing happens. */
const SLICE_MS = 100;

class Watch implements ReadableWatch {
  #closed = false;

  constructor(
    private readonly watcher: ReadinessWatcher,
    readonly fd: number,
    readonly callback: () => void,
  ) {}

  arm(): void {
    if (!this.#closed) this.watcher.arm(this);
  }

  disarm(): void {
    this.watcher.disarm(this);
  }

  ref(): void {
    // A call on a thread of the pool keeps the process alive, whatever it is for.
  }

  unref(): void {
    // See above.
  }

  close(): void {
    this.#closed = true;
    this.watcher.disarm(this);
  }
}

/**
 * One `poll` on a thread of libuv's pool serves all descriptors of a thread, however many there are, so that the pool stays
 * free for others.
 */
class ReadinessWatcher {
  readonly #native: NativeHost = requireNativeHost();
  /** Makes the poll in flight return, since its list of descriptors is out of date. */
  readonly #interrupt = new EventFd();
  readonly #armed = new Set<Watch>();
  #polling = false;

  constructor() {
    // A process that exits would wait for the call in flight.
    process.once('exit', () => {
      if (this.#polling) this.#interrupt.ring();
      else this.#interrupt.close();
    });
  }

  arm(watch: Watch): void {
    if (this.#armed.has(watch)) return;
    this.#armed.add(watch);
    this.#refresh();
  }

  disarm(watch: Watch): void {
    if (this.#armed.delete(watch)) this.#refresh();
  }

  #refresh(): void {
    if (this.#polling) this.#interrupt.ring();
    else inRootContext(() => this.#poll());
  }

  #poll(): void {
    if (this.#polling || this.#armed.size === 0) return;
    const watches = [...this.#armed];
    const fds = [this.#interrupt.fd, ...watches.map(({ fd }) => fd)];
    const entries = new NativeBlock(8 * fds.length);
    fds.forEach((fd, i) => {
      entries.words[2 * i] = fd;
      entries.words[2 * i + 1] = POLLIN;
    });
    this.#polling = true;
    this.#native.libc.pollAsync(entries.address, fds.length, SLICE_MS, () => {
      this.#polling = false;
      this.#interrupt.drain();
      this.#deliver(watches.filter((_watch, i) => entries.words[2 * i + 3] >>> 16 !== 0));
    });
  }

  #deliver(ready: readonly Watch[]): void {
    // One that was disarmed in the meantime is not called; one that arms itself again in its callback is polled for again.
    const wanted = ready.filter((watch) => this.#armed.delete(watch));
    try {
      for (const watch of wanted) watch.callback();
    } finally {
      this.#poll();
    }
  }
}

let watcher: ReadinessWatcher | undefined;

/** A watch by `poll` on a thread of libuv's pool. @throws Error when there are no native calls */
export function watchByPool(fd: number, callback: () => void): ReadableWatch {
  watcher ??= new ReadinessWatcher();
  return new Watch(watcher, fd, callback);
}
