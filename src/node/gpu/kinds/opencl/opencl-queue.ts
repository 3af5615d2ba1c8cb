import type { AtomicOperation } from '../../../../device/nic/index.js';
import { NativeBlock } from '../../../system/index.js';
import {
  BatchState,
  COMPARE_PARTS,
  type GpuBatch,
  type GpuFailure,
  type GpuHandle,
  type GpuQueue,
  type GpuStaging,
} from '../../driver/gpu-driver.js';
import { FOUND_BYTES, QueueKernels } from '../queue-kernels.js';
import { check, clFailure, type OpenCl, COMPARE_SOURCE } from './opencl-calls.js';
import { type ClCalls, Cl } from './opencl-library.js';

/** A command queue that carries out its commands in their order. */
export class OpenClQueue implements GpuQueue {
  readonly #calls: ClCalls;
  #events: GpuHandle[] = [];
  readonly #event = new NativeBlock(8);
  readonly #argument = new NativeBlock(8);
  readonly #longArgument = new BigUint64Array(this.#argument.bytes.buffer, 0, 1);
  readonly #size = new NativeBlock(8);
  /** Kernels of programs, by both: setting arguments of one is what no two threads may do at once, so each queue has its own. */
  readonly #kernels = new QueueKernels({
    kernel: (program, name) =>
      this.cl.make('clCreateKernel', (error) => this.#calls.createKernel(program, name, error)),
    releaseKernel: (kernel) => void this.#calls.releaseKernel(kernel),
    foundMemory: () =>
      this.cl.make('clCreateBuffer', (error) =>
        this.#calls.createBuffer(this.context, Cl.MEM_READ_WRITE, FOUND_BYTES, 0, error),
      ),
    releaseMemory: (memory) => void this.#calls.releaseMemObject(memory),
  });
  /** Compares two buffers; built when it is asked for. */
  #comparison: GpuHandle | undefined;

  constructor(
    private readonly cl: OpenCl,
    private readonly device: GpuHandle,
    private readonly context: GpuHandle,
    private readonly queue: GpuHandle,
  ) {
    this.#calls = cl.calls;
  }

  write(buffer: GpuHandle, offset: number, staging: GpuStaging, stagingOffset: number, lengthBytes: number): void {
    const { queue } = this;
    const from = staging.handle + stagingOffset;
    this.#add('clEnqueueWriteBuffer', (event) =>
      this.#calls.enqueueWriteBuffer(queue, buffer, 0, offset, lengthBytes, from, 0, 0, event),
    );
  }

  read(buffer: GpuHandle, offset: number, staging: GpuStaging, stagingOffset: number, lengthBytes: number): void {
    const { queue } = this;
    const to = staging.handle + stagingOffset;
    this.#add('clEnqueueReadBuffer', (event) =>
      this.#calls.enqueueReadBuffer(queue, buffer, 0, offset, lengthBytes, to, 0, 0, event),
    );
  }

  atomic(
    atomics: GpuHandle,
    buffer: GpuHandle,
    offset: number,
    { compare, operand }: AtomicOperation,
    staging: GpuStaging,
    stagingOffset: number,
  ): void {
    const operands = compare === undefined ? [operand] : [compare, operand];
    const kernel = this.#kernels.kernel(atomics, compare === undefined ? 'fetch_add' : 'compare_swap');
    const { found } = this.#kernels;
    this.#runKernel(kernel, 1, [buffer, BigInt(offset / 8), ...operands, found]);
    this.#kernels.fetch(() => this.read(found, 0, staging, stagingOffset, 8));
  }

  fill(buffer: GpuHandle, offset: number, lengthBytes: number, value: number): void {
    this.#argument.bytes[0] = value;
    const { queue } = this;
    const { address } = this.#argument;
    this.#add('clEnqueueFillBuffer', (event) =>
      this.#calls.enqueueFillBuffer(queue, buffer, address, 1, offset, lengthBytes, 0, 0, event),
    );
  }

  compare(
    a: GpuHandle,
    aOffset: number,
    b: GpuHandle,
    bOffset: number,
    lengthBytes: number,
    staging: GpuStaging,
    stagingOffset: number,
  ): void {
    this.#comparison ??= this.cl.build(this.context, this.device, COMPARE_SOURCE);
    const kernel = this.#kernels.kernel(this.#comparison, 'first_difference');
    const { found } = this.#kernels;
    this.#runKernel(kernel, COMPARE_PARTS, [a, BigInt(aOffset), b, BigInt(bOffset), BigInt(lengthBytes), found]);
    this.#kernels.fetch(() => this.read(found, 0, staging, stagingOffset, FOUND_BYTES));
  }

  submit(): GpuBatch {
    const events = this.#events;
    this.#events = [];
    const batch = new OpenClBatch(this.cl, events);
    const status = this.#calls.flush(this.queue);
    const unfetched = this.#kernels.takeUnfetched();
    const failure = status === Cl.SUCCESS ? unfetched : clFailure('clFlush', status);
    if (failure === undefined) return batch;
    batch.release();
    throw failure;
  }

  drain(): boolean {
    return this.#calls.finish(this.queue) === Cl.SUCCESS;
  }

  close(): void {
    for (const event of this.#events) this.#calls.releaseEvent(event);
    this.#kernels.close();
    if (this.#comparison !== undefined) this.#calls.releaseProgram(this.#comparison);
    this.#calls.releaseCommandQueue(this.queue);
  }

  #add(call: string, enqueue: (event: number) => number): void {
    check(call, enqueue(this.#event.address));
    this.#events.push(this.#event.getPointer(0));
  }

  /** @param operands handles as numbers, values of 64 bits as bigints */
  #runKernel(kernel: GpuHandle, workItems: number, operands: readonly (GpuHandle | bigint)[]): void {
    for (const [index, operand] of operands.entries()) {
      this.#longArgument[0] = BigInt(operand);
      check('clSetKernelArg', this.#calls.setKernelArg(kernel, index, 8, this.#argument.address));
    }
    const { queue } = this;
    this.#size.putPointer(0, workItems);
    const { address } = this.#size;
    this.#add('clEnqueueNDRangeKernel', (event) =>
      this.#calls.enqueueNDRangeKernel(queue, kernel, 1, 0, address, 0, 0, 0, event),
    );
  }
}

/** The events of commands that were submitted together, in their order. */
class OpenClBatch implements GpuBatch {
  failure: GpuFailure | undefined;

  constructor(
    private readonly cl: OpenCl,
    private events: readonly GpuHandle[],
  ) {}

  state(): BatchState {
    // The last one ends last, whether it has done anything or not.
    const last = this.#status(this.events[this.events.length - 1]);
    if (last > Cl.COMPLETE) return BatchState.RUNNING;
    for (const event of this.events) {
      const status = this.#status(event);
      if (status === Cl.COMPLETE) continue;
      if (status > Cl.COMPLETE) return BatchState.RUNNING;
      this.failure = clFailure('a command of an OpenCL queue', status);
      return BatchState.FAILED;
    }
    return BatchState.DONE;
  }

  wait(): void {
    const { calls, out } = this.cl;
    for (const event of this.events) {
      out.putPointer(0, event);
      // One that has failed has ended as well.
      calls.waitForEvents(1, out.address);
    }
  }

  release(): void {
    for (const event of this.events) this.cl.calls.releaseEvent(event);
    this.events = [];
  }

  #status(event: GpuHandle): number {
    const { calls, out } = this.cl;
    const status = calls.getEventInfo(event, Cl.EVENT_COMMAND_EXECUTION_STATUS, 4, out.address, 0);
    return status === Cl.SUCCESS ? out.words[0] : status;
  }
}
