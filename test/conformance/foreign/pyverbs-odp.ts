import { casesOf } from './types.js';

// Regions registered ON_DEMAND (not pinned), skipped without the capability for the operation. Before each message the
// pages are given back (madvise) so that the device must fault them in; not so with XRC, extended QPs and the first huge
// page case. 100 rounds both ways, SUCCESS with the data.
export const pyverbsOdp = casesOf('pyverbs', 'tests/test_odp.py', {
  'OdpTestCase.test_odp_rc_traffic': 'RC SEND ping-pong over on-demand regions with forced page faults.',
  'OdpTestCase.test_odp_rc_mixed_mr':
    'RC SEND with two SGEs, one in an on-demand and one in a pinned region, received into two such SGEs: both parts arrive.',
  'OdpTestCase.test_odp_qp_ex_rc_atomic_write': 'Extended RC QP: ATOMIC_WRITE of 8 bytes to an on-demand region.',
  'OdpTestCase.test_odp_qp_ex_rc_flush':
    'Extended RC QP: WRITE, then FLUSH (global visibility) of a range, then of the whole region, of an on-demand region: SUCCESS.',
  'OdpTestCase.test_odp_rc_atomic_cmp_and_swp':
    'RC CMP_SWAP (unequal, then equal) on on-demand regions: target and old value right.',
  'OdpTestCase.test_odp_rc_atomic_fetch_and_add': 'RC FETCH_ADD on on-demand regions: sum and old value right.',
  'OdpTestCase.test_odp_rc_rdma_read': 'RC READ from and into on-demand regions.',
  'OdpTestCase.test_odp_rc_rdma_write': 'RC WRITE from and into on-demand regions.',
  'OdpTestCase.test_odp_implicit_rc_traffic':
    'RC SEND ping-pong with an implicit on-demand region (the whole address space).',
  'OdpTestCase.test_odp_ud_traffic': 'UD SEND from an on-demand region into a pinned one, one way.',
  'OdpTestCase.test_odp_xrc_traffic': 'XRC SEND ping-pong over on-demand regions.',
  'OdpTestCase.test_odp_rc_huge_traffic':
    'RC SEND ping-pong over on-demand regions with HUGETLB, memory by the wrapper.',
  'OdpTestCase.test_odp_rc_huge_user_addr_traffic':
    'RC SEND ping-pong over on-demand regions with HUGETLB on 2 MiB pages mapped by the caller, page faults forced.',
  'OdpTestCase.test_odp_sync_prefetch_rc_traffic':
    'Before each RC SEND its SGE is prefetched by advise_mr with the FLUSH flag, advice PREFETCH, then PREFETCH_WRITE.',
  'OdpTestCase.test_odp_async_prefetch_rc_traffic':
    'Before each RC SEND its SGE is prefetched by advise_mr without flags, advice PREFETCH, then PREFETCH_WRITE.',
  'OdpTestCase.test_odp_implicit_sync_prefetch_rc_traffic':
    'Synchronous advise_mr PREFETCH_WRITE on an implicit region before each RC SEND.',
  'OdpTestCase.test_odp_implicit_async_prefetch_rc_traffic':
    'Asynchronous advise_mr PREFETCH_WRITE on an implicit region before each RC SEND.',
  'OdpTestCase.test_odp_prefetch_sync_no_page_fault_rc_traffic':
    'Synchronous advise_mr PREFETCH_NO_FAULT before each RC SEND.',
  'OdpTestCase.test_odp_prefetch_async_no_page_fault_rc_traffic':
    'Asynchronous advise_mr PREFETCH_NO_FAULT before each RC SEND.',
  'OdpTestCase.test_mrex_odp_rc_traffic': 'RC SEND ping-pong over on-demand regions made by reg_mr_ex.',
  'OdpTestCase.test_mrex_odp_rc_huge_traffic': 'RC SEND ping-pong over on-demand HUGETLB regions made by reg_mr_ex.',
  'OdpTestCase.test_mrex_odp_implicit_rc_traffic':
    'RC SEND ping-pong with an implicit on-demand region made by reg_mr_ex.',
  'OdpTestCase.test_mrex_odp_qp_ex_rc_flush':
    'The WRITE and FLUSH (range, then whole region) case on an on-demand region made by reg_mr_ex: SUCCESS.',
});
