/** Memory of GPUs as memory of the NIC, for programs that run in Node. What programs may lean on stands here name by name. */
import '../node/hosting/index.js';

export {
  type GpuBuffer,
  type GpuContext,
  type GpuDevice,
  gpuDevices,
  GpuKind,
  type GpuOptions,
  gpuProblem,
  openGpu,
} from '../node/gpu/index.js';
