import type { Mapping } from './types.js';

const reason =
  'Memory of a graphics processor, by a DMA-buf descriptor. A region here is memory of the process, which is all that software can reach: regMr takes no descriptor.';

export const mapping: Mapping = {
  'DmabufCudaTest.test_cuda_dmabuf_rdma_write_traffic': { reason },
  'DmabufCudaTest.test_mrex_cuda_dmabuf_rdma_write_traffic': { reason },
  'DmabufCudaTest.test_mrex_dmah_cuda_dmabuf_rdma_write_traffic': { reason },
};
