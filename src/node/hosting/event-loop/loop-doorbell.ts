import { ownTurn } from '../../../api/runtime/index.js';
import { EventFd, nativeHost, type ReadableWatch, watchReadable } from '../../system/index.js';

/** What other threads ring to wake the event loop of the main thread; all who sleep there share it. */
export class LoopDoorbell {
  readonly #bell = new EventFd();
  readonly #watch: ReadableWatch = watchReadable(this.#bell.fd, () => ownTurn(this.#onRung));
  readonly #sleepers = new Map<() => void, boolean>();

  get fd(): number {
    return this.#bell.fd;
  }

  /** Calls `heard` whenever somebody rings, whomever that is for. @param isReferenced whether that keeps the program running */
  add(heard: () => void, isReferenced: boolean): void {
    this.#sleepers.set(heard, isReferenced);
    this.#refer();
    this.#watch.arm();
  }

  /** One that sleeps keeps the program running, or does not, from now on. */
  reference(heard: () => void, isReferenced: boolean): void {
    if (!this.#sleepers.has(heard)) return;
    this.#sleepers.set(heard, isReferenced);
    this.#refer();
  }

  remove(heard: () => void): void {
    if (!this.#sleepers.delete(heard)) return;
    if (this.#sleepers.size === 0) this.#watch.disarm();
    else this.#refer();
  }

  #refer(): void {
    for (const isReferenced of this.#sleepers.values()) {
      if (!isReferenced) continue;
      this.#watch.ref();
      return;
    }
    this.#watch.unref();
  }

  readonly #onRung = (): void => {
    this.#bell.drain();
    try {
      for (const heard of [...this.#sleepers.keys()]) heard();
    } finally {
      if (this.#sleepers.size > 0) this.#watch.arm();
    }
  };
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
