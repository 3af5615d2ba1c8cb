import { asFailure, COMPARE_PARTS, type GpuFailure, type GpuHandle } from '../driver/gpu-driver.js';

/** What a kernel that compares finds: a number of 64 bits of each of its parts. Others find less. */
export const FOUND_BYTES = 8 * COMPARE_PARTS;

/** How a kind of GPU makes, and gives back, what its kernels need. */
export interface KernelMaker {
  kernel(module: GpuHandle, name: string): GpuHandle;
  /** Default: a kernel goes with its module. */
  releaseKernel?(kernel: GpuHandle): void;
  /** Memory of the device, for {@link FOUND_BYTES}. */
  foundMemory(): GpuHandle;
  releaseMemory(memory: GpuHandle): void;
}

/** What a queue has for kernels, each made when it is first asked for: themselves, memory of the device for what they find, and why that was not fetched. */
export class QueueKernels {
  readonly #kernels = new Map<string, GpuHandle>();
  #found: GpuHandle | undefined;
  #unfetched: GpuFailure | undefined;

  constructor(private readonly maker: KernelMaker) {}

  /** A kernel of a module that is loaded. */
  kernel(module: GpuHandle, name: string): GpuHandle {
    const key = `${module} ${name}`;
    let kernel = this.#kernels.get(key);
    if (kernel === undefined) {
      kernel = this.maker.kernel(module, name);
      this.#kernels.set(key, kernel);
    }
    return kernel;
  }

  get found(): GpuHandle {
    this.#found ??= this.maker.foundMemory();
    return this.#found;
  }

  /**
   * Has what a kernel finds come to staging. The kernel touches memory by now, so that it can be refused no more: why this is refused is told by
   * {@link takeUnfetched}.
   */
  fetch(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#unfetched ??= asFailure(error);
    }
  }

  /** Why what was added would end without what it was added for. */
  takeUnfetched(): GpuFailure | undefined {
    const unfetched = this.#unfetched;
    this.#unfetched = undefined;
    return unfetched;
  }

  /** Gives back what was made. Nothing may run any more. */
  close(): void {
    for (const kernel of this.#kernels.values()) this.maker.releaseKernel?.(kernel);
    if (this.#found !== undefined) this.maker.releaseMemory(this.#found);
  }
}
