import { NativeBlock, viewOf } from '../../../system/index.js';
import type { GpuDeviceFacts, GpuHandle, GpuQueue, GpuSession, GpuStaging } from '../../driver/gpu-driver.js';
import type { Cuda } from './cuda-calls.js';
import { Cu } from './cuda-library.js';
import { CudaQueue } from './cuda-queue.js';
import { ATOMIC_PTX, COMPARE_PTX } from './kernels.js';

/** A context of CUDA, in one thread. Each call makes it current for as long as it lasts. */
export class CudaSession implements GpuSession {
  #atomics: GpuHandle | undefined;
  #comparison: GpuHandle | undefined;

  /** @param closed lets go of the context */
  constructor(
    private readonly cuda: Cuda,
    readonly facts: GpuDeviceFacts,
    readonly context: GpuHandle,
    private readonly closed: () => void,
  ) {}

  alloc(lengthBytes: number): GpuHandle {
    return this.#make('cuMemAlloc', (out) => this.cuda.calls.memAlloc(out, lengthBytes));
  }

  free(buffer: GpuHandle): void {
    const { cuda } = this;
    cuda.within(this.context, () => cuda.check('cuMemFree', cuda.calls.memFree(buffer)));
  }

  addressOf(buffer: GpuHandle): number {
    return buffer;
  }

  allocStaging(lengthBytes: number): GpuStaging {
    const handle = this.#make('cuMemHostAlloc', (out) =>
      this.cuda.calls.memHostAlloc(out, lengthBytes, Cu.MEMHOSTALLOC_PORTABLE),
    );
    return { handle, bytes: viewOf(handle, lengthBytes) };
  }

  freeStaging({ handle }: GpuStaging): void {
    const { cuda } = this;
    cuda.within(this.context, () => cuda.calls.memFreeHost(handle));
  }

  prepareAtomics(): GpuHandle {
    this.#atomics ??= this.#load(ATOMIC_PTX);
    return this.#atomics;
  }

  openQueue(): GpuQueue {
    const stream = this.#make('cuStreamCreate', (out) => this.cuda.calls.streamCreate(out, Cu.STREAM_NON_BLOCKING));
    return new CudaQueue(this.cuda, this.context, stream, () => (this.#comparison ??= this.#load(COMPARE_PTX)));
  }

  close(): void {
    const modules = [this.#atomics, this.#comparison].filter((module) => module !== undefined);
    if (modules.length > 0)
      this.cuda.within(this.context, () => {
        for (const module of modules) this.cuda.calls.moduleUnload(module);
      });
    this.closed();
  }

  #make(call: string, make: (out: number) => number): GpuHandle {
    return this.cuda.within(this.context, () => this.cuda.make(call, make));
  }

  #load(ptx: string): GpuHandle {
    const image = new NativeBlock(ptx.length + 1);
    new TextEncoder().encodeInto(ptx, image.bytes);
    return this.#make('cuModuleLoadData', (out) => this.cuda.calls.moduleLoadData(out, image.address));
  }
}
