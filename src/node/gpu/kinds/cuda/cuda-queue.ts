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
import type { Cuda } from './cuda-calls.js';
import { Cu } from './cuda-library.js';

const BLOCK_THREADS = 256;
/** As many as any kernel here takes. */
const MAX_PARAMETERS = 4;

/** A stream. What is added begins at once; an event tells when all of it up to there has ended. */
export class CudaQueue implements GpuQueue {
  readonly #kernels = new QueueKernels({
    kernel: (module, name) =>
      this.#make('cuModuleGetFunction', (out) => this.cuda.calls.moduleGetFunction(out, module, name)),
    foundMemory: () => this.#make('cuMemAlloc', (out) => this.cuda.calls.memAlloc(out, FOUND_BYTES)),
    releaseMemory: (memory) => void this.cuda.calls.memFree(memory),
  });
  /** Events that nobody uses: to make one takes longer than to use it. */
  readonly #spareEvents: GpuHandle[] = [];
  /** Parameters of a kernel, and the addresses of these. */
  readonly #parameters = new NativeBlock(16 * MAX_PARAMETERS);
  readonly #values = new BigUint64Array(this.#parameters.bytes.buffer, 0, MAX_PARAMETERS);

  /** @param comparison loads the module that compares */
  constructor(
    private readonly cuda: Cuda,
    private readonly context: GpuHandle,
    private readonly stream: GpuHandle,
    private readonly comparison: () => GpuHandle,
  ) {
    const { address } = this.#parameters;
    for (let i = 0; i < MAX_PARAMETERS; i += 1) this.#parameters.putPointer(8 * (MAX_PARAMETERS + i), address + 8 * i);
  }

  write(buffer: GpuHandle, offset: number, staging: GpuStaging, stagingOffset: number, lengthBytes: number): void {
    const from = staging.handle + stagingOffset;
    this.#add('cuMemcpyHtoDAsync', () =>
      this.cuda.calls.memcpyHtoDAsync(buffer + offset, from, lengthBytes, this.stream),
    );
  }

  read(buffer: GpuHandle, offset: number, staging: GpuStaging, stagingOffset: number, lengthBytes: number): void {
    const to = staging.handle + stagingOffset;
    this.#add('cuMemcpyDtoHAsync', () =>
      this.cuda.calls.memcpyDtoHAsync(to, buffer + offset, lengthBytes, this.stream),
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
    const kernel = this.#kernels.kernel(atomics, compare === undefined ? 'fetch_add' : 'compare_swap');
    const { found } = this.#kernels;
    const operands = compare === undefined ? [operand] : [compare, operand];
    this.#launch(kernel, 1, 1, [BigInt(buffer + offset), ...operands, BigInt(found)]);
    this.#kernels.fetch(() => this.read(found, 0, staging, stagingOffset, 8));
  }

  fill(buffer: GpuHandle, offset: number, lengthBytes: number, value: number): void {
    this.#add('cuMemsetD8Async', () => this.cuda.calls.memsetD8Async(buffer + offset, value, lengthBytes, this.stream));
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
    const kernel = this.#kernels.kernel(this.comparison(), 'first_difference');
    const { found } = this.#kernels;
    const ranges = [a + aOffset, b + bOffset, lengthBytes, found].map(BigInt);
    this.#launch(kernel, COMPARE_PARTS / BLOCK_THREADS, BLOCK_THREADS, ranges);
    this.#kernels.fetch(() => this.read(found, 0, staging, stagingOffset, FOUND_BYTES));
  }

  submit(): GpuBatch {
    const { cuda, context, stream } = this;
    const unfetched = this.#kernels.takeUnfetched();
    if (unfetched !== undefined) throw unfetched;
    return cuda.within(context, () => {
      const event =
        this.#spareEvents.pop() ??
        cuda.make('cuEventCreate', (out) => cuda.calls.eventCreate(out, Cu.EVENT_DISABLE_TIMING));
      const status = cuda.calls.eventRecord(event, stream);
      if (status !== Cu.SUCCESS) this.#spareEvents.push(event);
      cuda.check('cuEventRecord', status);
      return new CudaBatch(cuda, context, event, () => this.#spareEvents.push(event));
    });
  }

  drain(): boolean {
    const { cuda, context, stream } = this;
    return cuda.calls.ctxPushCurrent(context) === Cu.SUCCESS && this.#drained(cuda.calls.streamSynchronize(stream));
  }

  close(): void {
    const { cuda, context, stream } = this;
    cuda.within(context, () => {
      for (const event of this.#spareEvents) cuda.calls.eventDestroy(event);
      this.#kernels.close();
      cuda.calls.streamDestroy(stream);
    });
  }

  #drained(status: number): boolean {
    this.cuda.calls.ctxPopCurrent(this.cuda.out.address);
    return status === Cu.SUCCESS;
  }

  #add(call: string, add: () => number): void {
    this.cuda.within(this.context, () => this.cuda.check(call, add()));
  }

  #launch(kernel: GpuHandle, blocks: number, threads: number, values: readonly bigint[]): void {
    for (const [i, value] of values.entries()) this.#values[i] = value;
    const addresses = this.#parameters.address + 8 * MAX_PARAMETERS;
    this.#add('cuLaunchKernel', () =>
      this.cuda.calls.launchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, this.stream, addresses, 0),
    );
  }

  #make(call: string, make: (out: number) => number): GpuHandle {
    return this.cuda.within(this.context, () => this.cuda.make(call, make));
  }
}

/** What was added before an event was recorded. */
class CudaBatch implements GpuBatch {
  failure: GpuFailure | undefined;

  /** @param released takes the event back */
  constructor(
    private readonly cuda: Cuda,
    private readonly context: GpuHandle,
    private readonly event: GpuHandle,
    private readonly released: () => void,
  ) {}

  state(): BatchState {
    const status = this.#within(() => this.cuda.calls.eventQuery(this.event));
    if (status === Cu.SUCCESS) return BatchState.DONE;
    if (status === Cu.ERROR_NOT_READY) return BatchState.RUNNING;
    // Of this or of something before it: whatever has failed, the context does no more.
    this.failure = this.cuda.failure('cuEventQuery', status);
    return BatchState.FAILED;
  }

  wait(): void {
    this.#within(() => this.cuda.calls.eventSynchronize(this.event));
  }

  release(): void {
    this.released();
  }

  #within(action: () => number): number {
    const { calls, out } = this.cuda;
    const status = calls.ctxPushCurrent(this.context);
    if (status !== Cu.SUCCESS) return status;
    const given = action();
    calls.ctxPopCurrent(out.address);
    return given;
  }
}
