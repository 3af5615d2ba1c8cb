import type { Mapping } from './types.js';

const reason =
  'A DMA handle steers a board’s bus transactions to a processor’s cache. A NIC made of software has no bus and loads and stores as the processor does: there are no such handles to make, and regMr takes none.';

export const mapping: Mapping = {
  'DMAHandleTest.test_dmah_with_mrex': { reason },
  'DMAHandleTest.test_dmah_invalid_ph': { reason },
  'DMAHandleTest.test_dmah_persistent_memory': { reason },
  'DMAHandleTest.test_dmah_invalid_mem_type': { reason },
  'DMAHandleTest.test_dmah_inval_cpu_id': { reason },
  'DMAHandleTest.test_dmah_mrex_odp_bad_flow': { reason },
  'DmaHandleTrafficTest.test_dmah_mrex_rc_send': { reason },
  'DmaHandleTrafficTest.test_dmah_mrex_rc_rdma_write': { reason },
  'DmaHandleTrafficTest.test_dmah_mrex_rc_atomic': { reason },
};
