/** Memory of GPUs: devices and buffers for programs, and the way of a NIC into them. */
export {
  BatchState,
  type GpuBatch,
  type GpuDeviceFacts,
  type GpuDriver,
  GpuFailure,
  type GpuHandle,
  type GpuPlace,
  type GpuQueue,
  type GpuSession,
  type GpuStaging,
} from './driver/gpu-driver.js';
export { type GpuBuffer, type GpuContext, type GpuDevice, GpuKind, type GpuOptions } from './program/gpu.js';
