import { NativeBlock } from '../../../system/index.js';
import {
  type GpuDeviceFacts,
  type GpuDriver,
  type GpuHandle,
  GpuKind,
  type GpuSession,
} from '../../driver/gpu-driver.js';
import { Cuda } from './cuda-calls.js';
import { Cu, type CuCalls, loadCuda } from './cuda-library.js';
import { CudaSession } from './cuda-session.js';

const NAME_BYTES = 256;

/** NVIDIA's GPUs. Written from the documentation of the driver API; it has not been run on a GPU. */
class CudaDriver implements GpuDriver {
  readonly kind = GpuKind.CUDA;
  readonly remedy = "it needs one of NVIDIA's GPUs";
  readonly #cuda: Cuda;
  #initialised = false;

  constructor(calls: CuCalls) {
    this.#cuda = new Cuda(calls);
  }

  devices(): readonly GpuDeviceFacts[] {
    const cuda = this.#cuda;
    if (!this.#initialised) {
      const status = cuda.calls.init(0);
      if (status === Cu.ERROR_NO_DEVICE) return [];
      cuda.check('cuInit', status);
      this.#initialised = true;
    }
    const count = cuda.make('cuDeviceGetCount', (out) => cuda.calls.deviceGetCount(out));
    return Array.from({ length: count }, (_, index) => this.#facts(index));
  }

  /** In the primary context of the device, which libraries above this API use as well. */
  open(index: number): GpuSession {
    const facts = this.devices()[index];
    const device = this.#device(index);
    const cuda = this.#cuda;
    const context = cuda.make('cuDevicePrimaryCtxRetain', (out) => cuda.calls.devicePrimaryCtxRetain(out, device));
    return new CudaSession(cuda, facts, context, () => cuda.calls.devicePrimaryCtxRelease(device));
  }

  join(index: number, context: GpuHandle): GpuSession {
    return new CudaSession(this.#cuda, this.devices()[index], context, () => undefined);
  }

  #device(index: number): number {
    const cuda = this.#cuda;
    return cuda.make('cuDeviceGet', (out) => cuda.calls.deviceGet(out, index));
  }

  #facts(index: number): GpuDeviceFacts {
    const cuda = this.#cuda;
    const device = this.#device(index);
    const name = new NativeBlock(NAME_BYTES);
    cuda.check('cuDeviceGetName', cuda.calls.deviceGetName(name.address, NAME_BYTES, device));
    return {
      index,
      name: new TextDecoder().decode(name.bytes.subarray(0, name.bytes.indexOf(0))),
      vendor: 'NVIDIA',
      memoryBytes: cuda.make('cuDeviceTotalMem', (out) => cuda.calls.deviceTotalMem(out, device)),
      // All of them since compute capability 2.0.
      hasAtomics: true,
    };
  }
}

/** @throws LibraryProblem */
export function loadCudaDriver(calls = loadCuda()): GpuDriver {
  return new CudaDriver(calls);
}
