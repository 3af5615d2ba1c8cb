import { type Mapping, testsOf } from './types.js';

const traffic = testsOf('qpex-traffic', 'requests built by wr calls');
const placement = testsOf('qpex-placement', 'placement requests');
const refused = testsOf('qpex-refusals', 'posting is refused');

export const mapping: Mapping = {
  'QpExTestCase.test_qp_ex_ud_send': { test: traffic('over UD wrSend delivers messages both ways') },
  'QpExTestCase.test_qp_ex_ud_zero_size': { test: traffic('over UD wrSend delivers messages of no bytes') },
  'QpExTestCase.test_qp_ex_rc_send': { test: traffic('over RC wrSend delivers messages both ways') },
  'QpExTestCase.test_qp_ex_xrc_send': { test: traffic('over XRC wrSend delivers messages both ways') },
  'QpExTestCase.test_qp_ex_ud_send_imm': {
    test: traffic('over UD wrSendImm delivers messages and their numbers both ways'),
  },
  'QpExTestCase.test_qp_ex_rc_send_imm': {
    test: traffic('over RC wrSendImm delivers messages and their numbers both ways'),
  },
  'QpExTestCase.test_qp_ex_xrc_send_imm': {
    test: traffic('over XRC wrSendImm delivers messages and their numbers both ways'),
  },
  'QpExTestCase.test_qp_ex_rc_flush': {
    test: placement('wrFlush succeeds after a WRITE: of its range, and of the whole region whatever length is named'),
  },
  'QpExTestCase.test_qp_ex_rc_flush_type_violate': {
    test: placement('wrFlush for persistence ends in REM_ACCESS_ERR where the region has FLUSH_GLOBAL alone'),
  },
  'QpExTestCase.test_qp_ex_rc_atomic_write': {
    test: placement('wrAtomicWrite puts 8 bytes in place, which it takes at once'),
  },
  'QpExTestCase.test_qp_ex_rc_rdma_write': { test: traffic('wrRdmaWrite puts bytes in place both ways') },
  'QpExTestCase.test_qp_ex_rc_rdma_write_imm': {
    test: traffic('wrRdmaWriteImm puts bytes in place and completes a receive request'),
  },
  'QpExTestCase.test_qp_ex_rc_rdma_write_zero_size': {
    test: traffic('wrRdmaWrite of no bytes succeeds, whatever memory it names'),
  },
  'QpExTestCase.test_qp_ex_rc_rdma_read': { test: traffic('wrRdmaRead fetches bytes both ways') },
  'QpExTestCase.test_qp_ex_rc_rdma_read_zero_size': {
    test: traffic('wrRdmaRead of no bytes succeeds, whatever memory it names'),
  },
  'QpExTestCase.test_qp_ex_rc_atomic_cmp_swp': { test: traffic('wrAtomicCmpSwp compares, and fetches what is there') },
  'QpExTestCase.test_qp_ex_rc_atomic_fetch_add': { test: traffic('wrAtomicFetchAdd adds, and fetches what was there') },
  'QpExTestCase.test_qp_ex_rc_bind_mw': {
    test: placement('wrBindMw binds a window, and a WRITE that it does not allow ends in REM_ACCESS_ERR'),
  },
  'QpExTestCase.test_post_receive_qp_state_bad_flow': {
    test: refused('to the receive queue of a UD QP that was moved back to RESET'),
  },
  'QpExTestCase.test_post_send_qp_state_bad_flow': {
    test: refused('to the send queue of a UD QP that was moved back to RESET'),
  },
  'QpExTestCase.test_full_rq_bad_flow': {
    test: ['RC', 'UD'].map((type) =>
      refused(`to the receive queue of a ${type} QP beyond the requests that it was made for`),
    ),
  },
  'QpExTestCase.test_rq_with_larger_sgl_bad_flow': {
    test: ['RC', 'UD'].map((type) =>
      refused(`to the receive queue of a ${type} QP with more pieces than it was made for`),
    ),
  },
};
