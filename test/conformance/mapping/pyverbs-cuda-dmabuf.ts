import type { Mapping } from './types.js';

const reason =
  'Memory of a graphics processor, by a DMA-buf descriptor. It is registered here by the buffer that has it (verbena/gpu), whose WRITEs src/node/gpu/test checks: regMr takes no descriptor.';

export const mapping: Mapping = {
  'DmabufCudaTest.test_cuda_dmabuf_rdma_write_traffic': { reason },
  'DmabufCudaTest.test_mrex_cuda_dmabuf_rdma_write_traffic': { reason },
  'DmabufCudaTest.test_mrex_dmah_cuda_dmabuf_rdma_write_traffic': { reason },
};
