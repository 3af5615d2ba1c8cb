import { UcsStatus } from '../wire/index.js';
import type { Operation, OperationQueue } from './operation-queue.js';

/** Whose operations fences put in order: those of an endpoint. */
export interface Fenced {
  readonly operations: OperationQueue;
  /** Calls, perhaps at once, when all that was asked for before has been done at the peer, or never will be. */
  whenFlushed(action: () => void): void;
}

/** Nothing that is behind it begins before all that is before it has been done, whoever it goes to. */
class Fence implements Operation {
  /** @param waiting for how many endpoints */
  constructor(public waiting: number) {}

  get isOpen(): boolean {
    return this.waiting === 0;
  }

  step(): UcsStatus {
    return this.isOpen ? UcsStatus.UCS_OK : UcsStatus.UCS_ERR_BUSY;
  }
}

export class Fences {
  readonly #all = new Set<Fenced>();
  #last: Fence | undefined;

  /** An endpoint has been made. What it is asked for comes behind the fences that there are. */
  add(one: Fenced): void {
    this.#all.add(one);
    if (this.#last?.isOpen === false) one.operations.add(this.#last);
  }

  remove(one: Fenced): void {
    this.#all.delete(one);
  }

  /** What is asked for from now on begins when all has been done that was asked for before. */
  fence(): void {
    const fence = new Fence(this.#all.size);
    this.#last = fence;
    for (const { operations } of this.#all) operations.add(fence);
    for (const one of [...this.#all]) one.whenFlushed(() => this.#arrived(fence));
  }

  #arrived(fence: Fence): void {
    fence.waiting -= 1;
    if (!fence.isOpen) return;
    for (const { operations } of this.#all) operations.resume();
  }
}
