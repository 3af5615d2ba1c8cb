import { EventFd, nativeHost, type ReadableWatch, watchReadable } from '../../system/index.js';

/** What other threads ring to wake the event loop of the main thread; all who sleep there share it. */
export class LoopDoorbell {
  readonly #bell = new EventFd();
  readonly #watch: ReadableWatch = watchReadable(this.#bell.fd, () => this.#onRung());
  readonly #sleepers = new Set<() => void>();

  get fd(): number {
    return this.#bell.fd;
  }

  /** Calls `heard` whenever somebody rings, whomever that is for, and keeps the program running until then. */
  add(heard: () => void): void {
    this.#sleepers.add(heard);
    this.#watch.arm();
  }

  remove(heard: () => void): void {
    if (this.#sleepers.delete(heard) && this.#sleepers.size === 0) this.#watch.disarm();
  }

  #onRung(): void {
    this.#bell.drain();
    try {
      for (const heard of [...this.#sleepers]) heard();
    } finally {
      if (this.#sleepers.size > 0) this.#watch.arm();
    }
  }
}

let doorbell: LoopDoorbell | undefined;

/**
 * The doorbell of this thread's event loop, which lasts as long as the process: nobody rings a number that is another file's. Undefined
 * where libuv does not watch descriptors itself, and messages wake the loop as quickly.
 */
export function loopDoorbell(): LoopDoorbell | undefined {
  if (nativeHost()?.pollHandle === undefined) return undefined;
  doorbell ??= new LoopDoorbell();
  return doorbell;
}
