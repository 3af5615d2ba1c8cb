import { assert } from '../../../device/ibta/index.js';
import type { AtomicOperation, Copy, CopyProgress } from '../../../device/nic/index.js';
import { asFailure, COMPARE_PARTS, type GpuFailure, type GpuHandle, type GpuSession } from '../driver/gpu-driver.js';
import { CopyLane, type Job } from './copy-lane.js';
import { StagingPool } from './staging-pool.js';

/** By which of its lanes something goes: a device copies in both directions at once. */
type Direction = 'into' | 'outOf';

interface Waiting {
  readonly job: Job;
  readonly direction: Direction;
}

/**
 * Copies between memory of the processor and of a device, by staging memory that both reach. What is asked for in one turn is
 * submitted together, and goes on while others do something else; {@link poll} tells of its end.
 *
 * What goes into the device is carried out in the order in which it was asked for, atomics included; so is what comes out of it.
 */
export class CopyMachine implements CopyProgress {
  /** Why what ended last could not be done, if it could not. */
  failure: GpuFailure | undefined;
  /** Why something could not be done, most recently. */
  lastFailure: GpuFailure | undefined;
  readonly #pool: StagingPool;
  readonly #lanes = new Map<Direction, CopyLane>();
  #waiting: Waiting[] = [];

  /**
   * @param failed told of what goes wrong
   * @param maxSlots pieces of staging memory at most; default 64
   */
  constructor(
    private readonly session: GpuSession,
    private readonly failed: (failure: GpuFailure) => void = () => undefined,
    maxSlots?: number,
  ) {
    this.#pool = new StagingPool(session, maxSlots);
  }

  get needsPolling(): boolean {
    for (const lane of this.#lanes.values()) if (lane.needsPolling) return true;
    return false;
  }

  get slotsInUse(): number {
    return this.#pool.inUse;
  }

  /**
   * Copies into a buffer. The source may be touched until `copy` is told.
   *
   * @returns false when it cannot be begun; `copy` is not told then
   */
  write(
    buffer: GpuHandle,
    offset: number,
    source: Uint8Array,
    sourceOffset: number,
    lengthBytes: number,
    copy: Copy,
  ): boolean {
    return this.#begin('into', {
      copy,
      lengthBytes,
      isOnce: false,
      add: (queue, { staging, at }) => {
        staging.bytes.set(source.subarray(sourceOffset, sourceOffset + lengthBytes), at);
        queue.write(buffer, offset, staging, at, lengthBytes);
      },
      done: undefined,
    });
  }

  /** Copies out of a buffer. @returns as {@link write} */
  read(
    buffer: GpuHandle,
    offset: number,
    target: Uint8Array,
    targetOffset: number,
    lengthBytes: number,
    copy: Copy,
  ): boolean {
    return this.#begin('outOf', {
      copy,
      lengthBytes,
      isOnce: false,
      add: (queue, { staging, at }) => queue.read(buffer, offset, staging, at, lengthBytes),
      done: ({ staging, at }) => {
        // A program may have lost its memory meanwhile.
        if (targetOffset + lengthBytes > target.length) return;
        target.set(staging.bytes.subarray(at, at + lengthBytes), targetOffset);
      },
    });
  }

  /** Changes a word, and puts what it was into `found`. @returns as {@link write} */
  atomic(
    atomics: GpuHandle,
    buffer: GpuHandle,
    offset: number,
    operation: AtomicOperation,
    found: Uint8Array,
    copy: Copy,
  ): boolean {
    return this.#begin('into', {
      copy,
      lengthBytes: 8,
      isOnce: true,
      add: (queue, { staging, at }) => queue.atomic(atomics, buffer, offset, operation, staging, at),
      done: ({ staging, at }) => found.set(staging.bytes.subarray(at, at + 8)),
    });
  }

  /** Sets bytes of a buffer. @returns as {@link write} */
  fill(buffer: GpuHandle, offset: number, lengthBytes: number, value: number, copy: Copy): boolean {
    return this.#begin('into', {
      copy,
      lengthBytes,
      isOnce: false,
      add: (queue) => queue.fill(buffer, offset, lengthBytes, value),
      done: undefined,
    });
  }

  /** Finds the first difference of two buffers, or `lengthBytes`. @returns as {@link write} */
  compare(a: GpuHandle, b: GpuHandle, lengthBytes: number, found: (at: number) => void, copy: Copy): boolean {
    return this.#begin('outOf', {
      copy,
      lengthBytes,
      isOnce: false,
      add: (queue, { staging, at }) => queue.compare(a, 0, b, 0, lengthBytes, staging, at),
      done: ({ staging, at }) => {
        const { buffer, byteOffset } = staging.bytes;
        const results = new BigUint64Array(buffer, byteOffset + at, COMPARE_PARTS);
        found(Number(results.reduce((least, result) => (result < least ? result : least), BigInt(lengthBytes))));
      },
    });
  }

  submit(): void {
    for (const lane of this.#lanes.values()) lane.submit();
  }

  poll(): void {
    for (const lane of this.#lanes.values()) lane.poll();
    this.#admit();
  }

  /** Blocks until all that was asked for has ended, and tells of it. */
  finish(): void {
    do {
      this.submit();
      for (const lane of this.#lanes.values()) lane.wait();
      this.poll();
    } while (this.#waiting.length > 0);
  }

  /** Blocks until a copy that is under way has ended, or gives it up before it begins: nobody is told of it. */
  cancel(copy: Copy): void {
    const left = this.#waiting.filter(({ job }) => job.copy !== copy);
    if (left.length < this.#waiting.length) this.#waiting = left;
    else for (const lane of this.#lanes.values()) lane.giveUp(copy);
  }

  /** Nobody wants anything of it any more. */
  close(): void {
    assert(this.#waiting.length === 0, 'a machine is closed that is asked for copies');
    for (const lane of this.#lanes.values()) lane.close();
    this.#lanes.clear();
    this.#pool.close();
  }

  #begin(direction: Direction, job: Job): boolean {
    // Whoever waits comes first.
    if (this.#waiting.length === 0) {
      const begun = this.#try(direction, job);
      if (begun !== undefined) return begun;
    }
    this.#waiting.push({ direction, job });
    return true;
  }

  /** @returns whether it has begun, or undefined while there is no staging for it */
  #try(direction: Direction, job: Job): boolean | undefined {
    let slot;
    try {
      const lane = this.#lane(direction);
      if (lane.isBroken || this.#pool.isExhausted) return false;
      slot = this.#pool.take();
      if (slot === undefined) return undefined;
      lane.add(job, slot);
      return true;
    } catch (error) {
      if (slot !== undefined) this.#pool.give(slot);
      this.#fail(asFailure(error));
      return false;
    }
  }

  /** Begins with what has waited, and for which there is staging now. */
  #admit(): void {
    if (this.#waiting.length === 0) return;
    const unable: Job[] = [];
    for (let first = this.#waiting.at(0); first !== undefined; first = this.#waiting.at(0)) {
      const begun = this.#try(first.direction, first.job);
      if (begun === undefined) break;
      this.#waiting.shift();
      if (!begun) unable.push(first.job);
    }
    this.submit();
    for (const { copy } of unable) copy?.finish(0);
  }

  #lane(direction: Direction): CopyLane {
    let lane = this.#lanes.get(direction);
    if (lane === undefined) {
      const queue = this.session.openQueue();
      lane = new CopyLane(queue, this.#pool, (failure) => this.#fail(failure));
      this.#lanes.set(direction, lane);
      queue.listen?.(() => this.poll());
    }
    return lane;
  }

  #fail(failure: GpuFailure | undefined): void {
    this.failure = failure;
    if (failure === undefined) return;
    this.lastFailure = failure;
    this.failed(failure);
  }
}
