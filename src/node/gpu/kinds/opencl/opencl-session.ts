import { viewOf } from '../../../system/index.js';
import type { GpuDeviceFacts, GpuHandle, GpuQueue, GpuSession, GpuStaging } from '../../driver/gpu-driver.js';
import { check, type OpenCl, ATOMIC_SOURCE } from './opencl-calls.js';
import { Cl } from './opencl-library.js';
import { OpenClQueue } from './opencl-queue.js';

/** Staging memory is a buffer that stays mapped: what drivers pin, and copy from and to by themselves. */
interface ClStaging extends GpuStaging {
  readonly buffer: GpuHandle;
}

/** A context of OpenCL, in one thread. Its calls may be made in several at once, but for those that set arguments of kernels. */
export class OpenClSession implements GpuSession {
  readonly #staging = new Map<GpuStaging, ClStaging>();
  #mapper: GpuHandle | undefined;
  #atomics: GpuHandle | undefined;

  constructor(
    private readonly cl: OpenCl,
    readonly facts: GpuDeviceFacts,
    private readonly device: GpuHandle,
    readonly context: GpuHandle,
  ) {}

  alloc(lengthBytes: number): GpuHandle {
    return this.#createBuffer(Cl.MEM_READ_WRITE, lengthBytes);
  }

  free(buffer: GpuHandle): void {
    check('clReleaseMemObject', this.cl.calls.releaseMemObject(buffer));
  }

  addressOf(): undefined {
    return undefined;
  }

  allocStaging(lengthBytes: number): GpuStaging {
    const { calls } = this.cl;
    const buffer = this.#createBuffer(Cl.MEM_READ_WRITE | Cl.MEM_ALLOC_HOST_PTR, lengthBytes);
    const flags = Cl.MAP_READ | Cl.MAP_WRITE;
    try {
      this.#mapper ??= this.#createQueue();
      const mapper = this.#mapper;
      const handle = this.cl.make('clEnqueueMapBuffer', (error) =>
        calls.enqueueMapBuffer(mapper, buffer, 1, flags, 0, lengthBytes, 0, 0, 0, error),
      );
      const staging = { bytes: viewOf(handle, lengthBytes), handle, buffer };
      this.#staging.set(staging, staging);
      return staging;
    } catch (error) {
      calls.releaseMemObject(buffer);
      throw error;
    }
  }

  freeStaging(staging: GpuStaging): void {
    const { calls } = this.cl;
    const known = this.#staging.get(staging);
    if (known === undefined || this.#mapper === undefined) return;
    this.#staging.delete(staging);
    calls.enqueueUnmapMemObject(this.#mapper, known.buffer, known.handle, 0, 0, 0);
    calls.finish(this.#mapper);
    calls.releaseMemObject(known.buffer);
  }

  prepareAtomics(): GpuHandle {
    this.#atomics ??= this.cl.build(this.context, this.device, ATOMIC_SOURCE);
    return this.#atomics;
  }

  openQueue(): GpuQueue {
    return new OpenClQueue(this.cl, this.device, this.context, this.#createQueue());
  }

  close(): void {
    if (this.#mapper !== undefined) this.cl.calls.releaseCommandQueue(this.#mapper);
    if (this.#atomics !== undefined) this.cl.calls.releaseProgram(this.#atomics);
    this.cl.calls.releaseContext(this.context);
  }

  /** One that carries out its commands in their order, as it does unless asked otherwise. */
  #createQueue(): GpuHandle {
    return this.cl.make('clCreateCommandQueue', (error) =>
      this.cl.calls.createCommandQueue(this.context, this.device, 0, error),
    );
  }

  #createBuffer(flags: number, lengthBytes: number): GpuHandle {
    return this.cl.make('clCreateBuffer', (error) =>
      this.cl.calls.createBuffer(this.context, flags, lengthBytes, 0, error),
    );
  }
}
