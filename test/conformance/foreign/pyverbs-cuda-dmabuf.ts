import { casesOf } from './types.js';

export const pyverbsCudaDmabuf = casesOf('pyverbs', 'tests/test_cuda_dmabuf.py', {
  'DmabufCudaTest.test_cuda_dmabuf_rdma_write_traffic':
    'RC WRITE both ways between regions over CUDA memory registered by its DMA-buf fd: SUCCESS with the data.',
  'DmabufCudaTest.test_mrex_cuda_dmabuf_rdma_write_traffic':
    'The same WRITEs where reg_mr_ex registers the CUDA DMA-buf fd with iova 0.',
  'DmabufCudaTest.test_mrex_dmah_cuda_dmabuf_rdma_write_traffic':
    'The same WRITEs where reg_mr_ex registers the CUDA DMA-buf fd together with a DMA handle.',
});
