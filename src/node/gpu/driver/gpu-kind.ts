/** Kinds of GPU: the libraries by which they are reached. */
export const GpuKind = {
  /** The driver of NVIDIA's GPUs: `libcuda.so.1`. */
  CUDA: 'cuda',
  /** Whatever has an OpenCL driver: `libOpenCL.so.1`. */
  OPENCL: 'opencl',
} as const;
export type GpuKind = (typeof GpuKind)[keyof typeof GpuKind];
