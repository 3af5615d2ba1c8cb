import type { Copy } from '../../../device/nic/index.js';
import { asFailure, BatchState, type GpuBatch, type GpuFailure, type GpuQueue } from '../driver/gpu-driver.js';
import type { Slot, StagingPool } from './staging-pool.js';

export interface Job {
  /** Whom its end concerns; undefined when that is nobody any more. */
  copy: Copy | undefined;
  readonly lengthBytes: number;
  /** Whether it must not be carried out twice. */
  readonly isOnce: boolean;
  /** Adds it to a queue. @throws GpuFailure */
  readonly add: (queue: GpuQueue, slot: Slot) => void;
  /** It has been done: takes from the slot what it has brought. */
  readonly done: ((slot: Slot) => void) | undefined;
}

interface Placed {
  readonly job: Job;
  readonly slot: Slot;
}

interface Burst {
  /** Undefined where submitting it has failed: then some of it may have begun. */
  readonly batch: GpuBatch | undefined;
  readonly placed: readonly Placed[];
}

/**
 * What is under way in one queue of a device. A device says of a burst that it has failed, and not at which of its commands; so that
 * nobody has to suffer for somebody else, each job of such a burst is carried out again, by itself. That changes nothing for those
 * that were done, of which nobody knows yet. What must not be done twice is a burst of its own from the beginning.
 */
export class CopyLane {
  /** Nobody knows what the device does: nothing more is asked of it. */
  isBroken = false;
  #added: Placed[] = [];
  #bursts: Burst[] = [];

  /** @param failed told of what goes wrong, and with undefined that something has gone well */
  constructor(
    private readonly queue: GpuQueue,
    private readonly pool: StagingPool,
    private readonly failed: (failure: GpuFailure | undefined) => void,
  ) {}

  /** Whether something was submitted, of whose end nobody tells: nor does a device of what could not be submitted, or when it is lost. */
  get needsPolling(): boolean {
    if (this.#bursts.length === 0) return false;
    return this.queue.listen === undefined || this.isBroken || this.#bursts[0].batch === undefined;
  }

  /** @throws GpuFailure when it cannot be begun; the slot is the caller's still */
  add(job: Job, slot: Slot): void {
    if (job.isOnce || this.#added.at(-1)?.job.isOnce === true) this.#begin();
    job.add(this.queue, slot);
    this.#added.push({ job, slot });
  }

  /** Has the device begin with what was added. */
  submit(): void {
    this.#begin();
  }

  poll(): void {
    for (let first = this.#bursts.at(0); first !== undefined; first = this.#bursts.at(0)) {
      const state = this.isBroken ? BatchState.FAILED : (first.batch?.state() ?? BatchState.FAILED);
      if (state === BatchState.RUNNING) return;
      this.#bursts.shift();
      this.#conclude(first, state);
    }
  }

  /** Blocks until all that was submitted has ended. */
  wait(): void {
    for (const { batch } of this.#bursts) batch?.wait();
  }

  /** Blocks until a copy that was added has ended; nobody is told of it. */
  giveUp(copy: Copy): void {
    // It may have begun, whether it was submitted or not.
    if (this.#added.some(({ job }) => job.copy === copy)) this.#begin();
    for (const { batch, placed } of this.#bursts) {
      const found = placed.find(({ job }) => job.copy === copy);
      if (found === undefined) continue;
      found.job.copy = undefined;
      batch?.wait();
      // Of what stands behind a command that has failed nobody knows.
      if (batch?.state() !== BatchState.DONE) this.#settle();
      return;
    }
  }

  /** Blocks until all has ended, which nobody wants any more. */
  close(): void {
    this.#begin();
    this.wait();
    this.poll();
    // What does not end after it was waited for has failed in a way that nobody foresaw.
    for (const burst of this.#bursts.splice(0)) this.#conclude(burst, BatchState.FAILED);
    if (!this.isBroken) this.queue.close();
  }

  #begin(): void {
    if (this.#added.length === 0) return;
    const placed = this.#added;
    this.#added = [];
    this.#bursts.push({ batch: this.#submitted(), placed });
  }

  #submitted(): GpuBatch | undefined {
    try {
      return this.queue.submit();
    } catch (error) {
      this.failed(asFailure(error));
      return undefined;
    }
  }

  #conclude({ batch, placed }: Burst, state: BatchState): void {
    const isDone = state === BatchState.DONE;
    if (batch !== undefined) this.failed(isDone ? undefined : batch.failure);
    const isKnown = isDone || this.#settle();
    batch?.release();
    if (!isDone && isKnown && placed.length > 1) this.#redo(placed);
    else this.#end(placed, isKnown, isDone);
  }

  /** Carries out jobs again, each by itself. */
  #redo(placed: readonly Placed[]): void {
    this.#begin();
    for (const one of placed) {
      // Nobody wants it any more.
      if (one.job.copy === undefined) {
        this.#end([one], true, false);
        continue;
      }
      try {
        one.job.add(this.queue, one.slot);
        this.#bursts.push({ batch: this.#submitted(), placed: [one] });
      } catch (error) {
        this.failed(asFailure(error));
        this.#end([one], true, false);
      }
    }
  }

  /** After a failure: whether nothing is under way any more. */
  #settle(): boolean {
    if (!this.isBroken && !this.queue.drain()) this.isBroken = true;
    return !this.isBroken;
  }

  #end(placed: readonly Placed[], isKnown: boolean, isDone: boolean): void {
    for (const { job, slot } of placed) {
      const { copy } = job;
      if (isDone && copy !== undefined) job.done?.(slot);
      if (isKnown) this.pool.give(slot);
      else this.pool.lose();
    }
    for (const { job } of placed) {
      const { copy } = job;
      job.copy = undefined;
      copy?.finish(isDone ? job.lengthBytes : 0);
    }
  }
}
