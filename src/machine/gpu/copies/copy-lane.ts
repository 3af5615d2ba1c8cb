import type { Copy } from '../../../device/nic/index.js';
import { BatchState, type GpuBatch, type GpuQueue } from '../driver/gpu-driver.js';
import { asFailure, type GpuFailure } from '../driver/gpu-failure.js';
import type { Slot, StagingPool } from './staging-pool.js';

/** One thing that a device is to do. */
export interface Job {
  /** Whom its end concerns; undefined when that is nobody any more. */
  copy: Copy | undefined;
  readonly lengthBytes: number;
  /** Adds it to a queue. @throws GpuFailure */
  readonly add: (queue: GpuQueue, slot: Slot) => void;
  /** It has been done: takes from the slot what it has brought. */
  readonly done: ((slot: Slot) => void) | undefined;
}

/** A job that has its slot. */
interface Placed {
  readonly job: Job;
  readonly slot: Slot;
}

interface Burst {
  readonly batch: GpuBatch;
  readonly placed: readonly Placed[];
}

/** What is under way in one queue of a device. */
export class CopyLane {
  /** Nobody knows what the device does: nothing more is asked of it. */
  isBroken = false;
  #added: Placed[] = [];
  readonly #bursts: Burst[] = [];

  /** @param failed told of what goes wrong, and with undefined that something has gone well */
  constructor(
    private readonly queue: GpuQueue,
    private readonly pool: StagingPool,
    private readonly failed: (failure: GpuFailure | undefined) => void,
  ) {}

  /** Whether something was submitted, of whose end nobody tells. */
  get needsPolling(): boolean {
    return this.#bursts.length > 0 && this.queue.listen === undefined;
  }

  /** @returns whether it has been added; the slot is this lane's in any case */
  add(job: Job, slot: Slot): boolean {
    try {
      job.add(this.queue, slot);
    } catch (error) {
      this.failed(asFailure(error));
      // A library may refuse one command for what became of another, and a part of this one may go on.
      this.#giveBack(slot, this.#settle());
      return false;
    }
    this.#added.push({ job, slot });
    return true;
  }

  /** Has the device begin with what was added. */
  submit(): void {
    if (this.#added.length === 0) return;
    const placed = this.#added;
    this.#added = [];
    let batch;
    try {
      batch = this.queue.submit();
    } catch (error) {
      this.failed(asFailure(error));
      // Some of it may have begun.
      this.#end(placed, this.#settle(), false);
      return;
    }
    this.#bursts.push({ batch, placed });
  }

  /** Tells of what has ended. */
  poll(): void {
    for (let first = this.#bursts.at(0); first !== undefined; first = this.#bursts.at(0)) {
      const state = first.batch.state();
      if (state === BatchState.RUNNING) return;
      this.#bursts.shift();
      this.#conclude(first, state);
    }
  }

  /** Blocks until all that was submitted has ended. */
  wait(): void {
    for (const { batch } of this.#bursts) batch.wait();
  }

  /** Blocks until a copy that was added has ended; nobody is told of it. */
  giveUp(copy: Copy): void {
    const added = this.#added.find(({ job }) => job.copy === copy);
    if (added !== undefined) {
      added.job.copy = undefined;
      // It may have begun, whether it was submitted or not.
      this.submit();
      this.#bursts.at(-1)?.batch.wait();
      return;
    }
    for (const { batch, placed } of this.#bursts) {
      const found = placed.find(({ job }) => job.copy === copy);
      if (found === undefined) continue;
      found.job.copy = undefined;
      batch.wait();
      return;
    }
  }

  /** Blocks until all has ended. */
  close(): void {
    this.submit();
    this.wait();
    this.poll();
    // What does not end after it was waited for has failed in a way that nobody foresaw.
    for (const burst of this.#bursts.splice(0)) this.#conclude(burst, BatchState.FAILED);
    if (!this.isBroken) this.queue.close();
  }

  #conclude({ batch, placed }: Burst, state: BatchState): void {
    const isDone = state === BatchState.DONE;
    const { failure } = batch;
    this.failed(isDone ? undefined : failure);
    const isKnown = isDone || this.#settle();
    batch.release();
    this.#end(placed, isKnown, isDone);
  }

  /** After a failure: whether nothing is under way any more. */
  #settle(): boolean {
    if (!this.isBroken && !this.queue.drain()) this.isBroken = true;
    return !this.isBroken;
  }

  /** @param isKnown whether the device is known to have done with it */
  #giveBack(slot: Slot, isKnown: boolean): void {
    if (isKnown) this.pool.give(slot);
    else this.pool.lose();
  }

  #end(placed: readonly Placed[], isKnown: boolean, isDone: boolean): void {
    for (const { job, slot } of placed) {
      const { copy } = job;
      if (isDone && copy !== undefined) job.done?.(slot);
      this.#giveBack(slot, isKnown);
    }
    for (const { job } of placed) {
      const { copy } = job;
      job.copy = undefined;
      copy?.finish(isDone ? job.lengthBytes : 0);
    }
  }
}
