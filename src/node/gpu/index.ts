/** Memory of GPUs: devices and buffers for programs, and the way of a NIC into them. */
export { CopyMachine } from './copies/copy-machine.js';
export { GpuMemory } from './copies/gpu-memory.js';
export { isGpuPlace, reachGpuMemory } from './copies/reach.js';
export {
  BatchState,
  type GpuBatch,
  type GpuDeviceFacts,
  type GpuDriver,
  GpuFailure,
  type GpuHandle,
  GpuKind,
  type GpuPlace,
  type GpuQueue,
  type GpuSession,
  type GpuStaging,
} from './driver/gpu-driver.js';
export { gpuDevices, gpuProblem, openGpu } from './program/devices.js';
export type { GpuBuffer, GpuContext, GpuDevice, GpuOptions } from './program/gpu.js';
