import { NativeBlock, requireNativeHost, viewOf } from '../../../system/index.js';
import { GpuFailure } from '../../driver/gpu-driver.js';
import { Cu, type CuCalls } from './cuda-library.js';

const NAME_LIMIT = 128;

/** The library in one thread, with memory for what its calls give back. */
export class Cuda {
  /** Eight bytes: what a call puts somewhere. */
  readonly out = new NativeBlock(8);
  readonly #popped = new NativeBlock(8);

  constructor(readonly calls: CuCalls) {}

  failure(call: string, status: number): GpuFailure {
    return new GpuFailure(call, status, this.#nameOf(status), status === Cu.ERROR_OUT_OF_MEMORY);
  }

  /** Throws what a call has given, unless that is success. */
  check(call: string, status: number): void {
    if (status !== Cu.SUCCESS) throw this.failure(call, status);
  }

  /** A handle or number that a call puts where it is told to. @throws GpuFailure */
  make(call: string, make: (out: number) => number): number {
    const { out } = this;
    out.putPointer(0, 0);
    this.check(call, make(out.address));
    return out.getPointer(0);
  }

  /** Does something in a context: the thread may have another one, which it keeps. */
  within<T>(context: number, action: () => T): T {
    this.check('cuCtxPushCurrent', this.calls.ctxPushCurrent(context));
    try {
      return action();
    } finally {
      this.calls.ctxPopCurrent(this.#popped.address);
    }
  }

  #nameOf(status: number): string {
    if (this.calls.getErrorName(status, this.out.address) !== Cu.SUCCESS) return 'an error of CUDA';
    const address = this.out.getPointer(0);
    return new TextDecoder().decode(viewOf(address, requireNativeHost().libc.strnlen(address, NAME_LIMIT)));
  }
}
