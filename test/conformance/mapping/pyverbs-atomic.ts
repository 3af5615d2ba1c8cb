import { type Mapping, testsOf } from './types.js';

const bothWays = testsOf('atomics-values', 'atomics both ways');
const refuse = testsOf('atomics-refusals', 'RC atomics refuse');

export const mapping: Mapping = {
  'AtomicTest.test_atomic_cmp_and_swap': { test: bothWays('over RC compare and swap') },
  'AtomicTest.test_atomic_fetch_and_add': { test: bothWays('over RC add') },
  'AtomicTest.test_xrc_atomic_fetch_and_add': { test: bothWays('over XRC add') },
  'AtomicTest.test_xrc_atomic_cmp_and_swap': { test: bothWays('over XRC compare and swap') },
  'AtomicTest.test_atomic_invalid_qp_access': {
    test: refuse('a QP that does not allow it: signaled FETCH_ADD ends in REM_INV_REQ_ERR and changes nothing'),
  },
  'AtomicTest.test_atomic_invalid_mr_access': {
    test: refuse('a region that peers cannot use: signaled FETCH_ADD ends in REM_ACCESS_ERR and changes nothing'),
  },
  'AtomicTest.test_atomic_non_aligned_addr': {
    test: refuse('an address that is not a multiple of 8: signaled FETCH_ADD ends in EINVAL and changes nothing'),
    note: 'Refused while posting, with EINVAL.',
  },
  'AtomicTest.test_atomic_invalid_lkey': {
    test: refuse('another L_Key: signaled FETCH_ADD ends in LOC_PROT_ERR and changes nothing'),
  },
  'AtomicTest.test_atomic_invalid_rkey': {
    test: refuse('another R_Key: signaled FETCH_ADD ends in REM_ACCESS_ERR and changes nothing'),
  },
};
