import { casesOf } from './types.js';

// A DMA handle carries PCIe TPH steering: CPU id, memory type and processing hint. All are skipped on EOPNOTSUPP.
export const pyverbsDmah = casesOf('pyverbs', 'tests/test_dmah.py', {
  'DMAHandleTest.test_dmah_with_mrex': 'reg_mr_ex with a DMA handle (CPU 0, volatile memory, hint 0) succeeds.',
  'DMAHandleTest.test_dmah_invalid_ph': 'alloc of a DMA handle with processing hint 4 (above 3) fails.',
  'DMAHandleTest.test_dmah_persistent_memory': 'alloc of a DMA handle for persistent memory succeeds.',
  'DMAHandleTest.test_dmah_invalid_mem_type': 'alloc of a DMA handle with memory type 0xFE fails.',
  'DMAHandleTest.test_dmah_inval_cpu_id': 'alloc of a DMA handle with CPU 0xffff and hint 3 fails.',
  'DMAHandleTest.test_dmah_mrex_odp_bad_flow':
    'With on-demand paging supported: reg_mr_ex with ON_DEMAND and a DMA handle together fails.',
  'DmaHandleTrafficTest.test_dmah_mrex_rc_send':
    'RC SEND ping-pong over regions with a DMA handle: SUCCESS with the data.',
  'DmaHandleTrafficTest.test_dmah_mrex_rc_rdma_write': 'RC WRITE both ways over regions with a DMA handle.',
  'DmaHandleTrafficTest.test_dmah_mrex_rc_atomic':
    'RC FETCH_ADD over 8-byte regions with a DMA handle: sum and old value right.',
});
