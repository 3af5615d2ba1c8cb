import { type Mapping, type MappingEntry, testsOf } from './types.js';

const traffic = testsOf('odp-traffic', 'traffic over memory on demand, registered');
const placed = testsOf('odp-traffic', 'traffic over memory on demand, registered at a chosen address');
const advice = testsOf('odp-advice', 'advice about memory on demand');

const IMPLICIT: MappingEntry = {
  reason:
    'Memory of a JavaScript program comes in buffers; all of the address space cannot be registered. The query says so: odpCaps.generalCaps without SUPPORT_IMPLICIT, which odp-traffic checks.',
};
const PAGES =
  'A JavaScript program cannot give pages of a buffer back to the kernel, so that faults are not forced. A software NIC meets them as any program does.';
const EX = 'What ibv_reg_mr_ex adds to ibv_reg_mr and this device has is the address that peers use.';
const HUGE = 'Which pages the kernel takes for a buffer is out of the hands of a JavaScript program.';

export const mapping: Mapping = {
  'OdpTestCase.test_odp_rc_traffic': { test: traffic('RC sends and receives'), note: PAGES },
  'OdpTestCase.test_odp_rc_mixed_mr': {
    test: traffic('RC sends from and receives into pieces of which one is on demand and one is not'),
    note: PAGES,
  },
  'OdpTestCase.test_odp_qp_ex_rc_atomic_write': {
    test: traffic('RC puts eight bytes into it at once, by wrAtomicWrite'),
  },
  'OdpTestCase.test_odp_qp_ex_rc_flush': {
    test: [
      traffic('RC writes into it and flushes a range of it, by wrFlush'),
      traffic('RC writes into it and flushes all of it, by wrFlush'),
    ],
  },
  'OdpTestCase.test_odp_rc_atomic_cmp_and_swp': {
    test: traffic('RC compares and swaps in it: first in vain, then with success'),
    note: PAGES,
  },
  'OdpTestCase.test_odp_rc_atomic_fetch_and_add': {
    test: traffic('RC adds to it and fetches into it'),
    note: PAGES,
  },
  'OdpTestCase.test_odp_rc_rdma_read': { test: traffic('RC reads from it and into it'), note: PAGES },
  'OdpTestCase.test_odp_rc_rdma_write': { test: traffic('RC writes from it and into it'), note: PAGES },
  'OdpTestCase.test_odp_implicit_rc_traffic': IMPLICIT,
  'OdpTestCase.test_odp_ud_traffic': {
    test: traffic('UD sends from it into memory that is not on demand'),
    note: PAGES,
  },
  'OdpTestCase.test_odp_xrc_traffic': { test: traffic('XRC sends from it and receives into it') },
  'OdpTestCase.test_odp_rc_huge_traffic': {
    test: traffic('RC sends and receives where it is of huge pages'),
    note: HUGE,
  },
  'OdpTestCase.test_odp_rc_huge_user_addr_traffic': {
    test: traffic('RC sends and receives where it is of huge pages'),
    note: HUGE,
  },
  'OdpTestCase.test_odp_sync_prefetch_rc_traffic': {
    test: [
      advice('PREFETCH that returns when it is done is taken before each message'),
      advice('PREFETCH_WRITE that returns when it is done is taken before each message'),
    ],
  },
  'OdpTestCase.test_odp_async_prefetch_rc_traffic': {
    test: [
      advice('PREFETCH that returns when it is noted is taken before each message'),
      advice('PREFETCH_WRITE that returns when it is noted is taken before each message'),
    ],
  },
  'OdpTestCase.test_odp_implicit_sync_prefetch_rc_traffic': IMPLICIT,
  'OdpTestCase.test_odp_implicit_async_prefetch_rc_traffic': IMPLICIT,
  'OdpTestCase.test_odp_prefetch_sync_no_page_fault_rc_traffic': {
    test: advice('PREFETCH_NO_FAULT that returns when it is done is taken before each message'),
  },
  'OdpTestCase.test_odp_prefetch_async_no_page_fault_rc_traffic': {
    test: advice('PREFETCH_NO_FAULT that returns when it is noted is taken before each message'),
  },
  'OdpTestCase.test_mrex_odp_rc_traffic': { test: placed('RC sends and receives'), note: `${EX} ${PAGES}` },
  'OdpTestCase.test_mrex_odp_rc_huge_traffic': {
    test: placed('RC sends and receives where it is of huge pages'),
    note: `${EX} ${HUGE}`,
  },
  'OdpTestCase.test_mrex_odp_implicit_rc_traffic': IMPLICIT,
  'OdpTestCase.test_mrex_odp_qp_ex_rc_flush': {
    test: [
      placed('RC writes into it and flushes a range of it, by wrFlush'),
      placed('RC writes into it and flushes all of it, by wrFlush'),
    ],
    note: EX,
  },
};
