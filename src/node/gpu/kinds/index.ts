/** Every kind of GPU there is: a row here, and a folder beside this file. */
import { type GpuDriver, GpuKind } from '../driver/gpu-driver.js';
import { loadCudaDriver } from './cuda/cuda-driver.js';
import { LibraryProblem } from './library.js';
import { loadOpenClDriver } from './opencl/opencl-driver.js';

const loaders: Readonly<Record<GpuKind, () => GpuDriver>> = {
  [GpuKind.CUDA]: loadCudaDriver,
  [GpuKind.OPENCL]: loadOpenClDriver,
};

const loaded = new Map<GpuKind, GpuDriver>();

/** The driver of a kind, or the sentence that says why there is none. */
export function driverOf(kind: GpuKind): GpuDriver | string {
  const known = loaded.get(kind);
  if (known !== undefined) return known;
  try {
    const driver = loaders[kind]();
    loaded.set(kind, driver);
    return driver;
  } catch (error) {
    if (error instanceof LibraryProblem) return error.message;
    throw error;
  }
}

/** Those that are tried where none is asked for, in this order. */
export const KINDS: readonly GpuKind[] = [GpuKind.CUDA, GpuKind.OPENCL];
