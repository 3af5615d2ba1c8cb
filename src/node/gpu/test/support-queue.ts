/** A device of which the test says when it has done what. */
import {
  BatchState,
  type GpuBatch,
  type GpuDeviceFacts,
  GpuFailure,
  type GpuHandle,
  type GpuQueue,
  type GpuSession,
  type GpuStaging,
} from '../index.js';

export const DEVICE_LOST = new GpuFailure('testCommand', -5, 'TEST_DEVICE_LOST');

class HandBatch implements GpuBatch {
  current: BatchState = BatchState.RUNNING;
  failure: GpuFailure | undefined;
  isReleased = false;

  constructor(private readonly commands: readonly (() => void)[]) {}

  done(): void {
    for (const command of this.commands) command();
    this.current = BatchState.DONE;
  }

  fail(): void {
    this.failure = DEVICE_LOST;
    this.current = BatchState.FAILED;
  }

  state(): BatchState {
    return this.current;
  }

  wait(): void {
    if (this.current === BatchState.RUNNING) this.done();
  }

  release(): void {
    this.isReleased = true;
  }
}

export class HandQueue implements GpuQueue {
  readonly batches: HandBatch[] = [];
  /** Set to have the next command refused. */
  refuses = false;
  /** Set to have what is submitted next refused. */
  refusesSubmission = false;
  /** What {@link drain} says. */
  drains = true;
  isClosed = false;
  #commands: (() => void)[] = [];

  constructor(private readonly memory: Uint8Array) {}

  write(_buffer: GpuHandle, offset: number, staging: GpuStaging, at: number, lengthBytes: number): void {
    this.#add(() => this.memory.set(staging.bytes.subarray(at, at + lengthBytes), offset));
  }

  read(_buffer: GpuHandle, offset: number, staging: GpuStaging, at: number, lengthBytes: number): void {
    this.#add(() => staging.bytes.set(this.memory.subarray(offset, offset + lengthBytes), at));
  }

  atomic(): void {
    throw new Error('no test here asks for atomics');
  }

  fill(_buffer: GpuHandle, offset: number, lengthBytes: number, value: number): void {
    this.#add(() => this.memory.fill(value, offset, offset + lengthBytes));
  }

  compare(): void {
    throw new Error('no test here compares');
  }

  submit(): GpuBatch {
    const batch = new HandBatch(this.#commands);
    this.#commands = [];
    if (this.refusesSubmission) {
      this.refusesSubmission = false;
      throw DEVICE_LOST;
    }
    this.batches.push(batch);
    return batch;
  }

  drain(): boolean {
    return this.drains;
  }

  close(): void {
    this.isClosed = true;
  }

  #add(command: () => void): void {
    if (this.refuses) throw DEVICE_LOST;
    this.#commands.push(command);
  }
}

export class HandSession implements GpuSession {
  readonly facts: GpuDeviceFacts = { index: 0, name: 'test', vendor: 'test', memoryBytes: 1, hasAtomics: false };
  readonly context = 1;
  /** Into the device, and out of it, in the order in which they are first used. */
  readonly queues: HandQueue[] = [];
  readonly staging = new Set<GpuStaging>();

  constructor(readonly memory: Uint8Array) {}

  alloc(): GpuHandle {
    return 1;
  }

  free(): void {
    // It is the test's.
  }

  addressOf(): undefined {
    return undefined;
  }

  allocStaging(lengthBytes: number): GpuStaging {
    const staging = { bytes: new Uint8Array(lengthBytes), handle: 0 };
    this.staging.add(staging);
    return staging;
  }

  freeStaging(staging: GpuStaging): void {
    this.staging.delete(staging);
  }

  prepareAtomics(): GpuHandle {
    return 1;
  }

  openQueue(): GpuQueue {
    const queue = new HandQueue(this.memory);
    this.queues.push(queue);
    return queue;
  }

  close(): void {
    // Nothing is held.
  }
}
