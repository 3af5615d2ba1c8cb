import { casesOf } from './types.js';

// QPs made by create_qp_ex with just the send operations named; WRs are posted between wr_start and wr_complete. 1024
// bytes, 100 rounds both ways, SUCCESS with the data; skipped on EOPNOTSUPP.
export const pyverbsQpex = casesOf('pyverbs', 'tests/test_qpex.py', {
  'QpExTestCase.test_qp_ex_ud_send': 'UD wr_send with wr_set_ud_addr, ping-pong.',
  'QpExTestCase.test_qp_ex_ud_zero_size': 'UD wr_send of 0 bytes, ping-pong.',
  'QpExTestCase.test_qp_ex_rc_send': 'RC wr_send, ping-pong.',
  'QpExTestCase.test_qp_ex_xrc_send': 'XRC wr_send with wr_set_xrc_srqn over two QP pairs, ping-pong.',
  'QpExTestCase.test_qp_ex_ud_send_imm': 'UD wr_send_imm 1234: the receive has WITH_IMM and that value.',
  'QpExTestCase.test_qp_ex_rc_send_imm': 'RC wr_send_imm 1234: the receive has WITH_IMM and that value.',
  'QpExTestCase.test_qp_ex_xrc_send_imm': 'XRC wr_send_imm over two QP pairs, ping-pong (the value is not checked).',
  'QpExTestCase.test_qp_ex_rc_flush':
    'RC WRITE, then wr_flush for global visibility of the range, then of the whole region (length 0 or random, ignored): SUCCESS; region has FLUSH_GLOBAL.',
  'QpExTestCase.test_qp_ex_rc_flush_type_violate':
    'wr_flush for persistence on a region that has FLUSH_GLOBAL only completes REM_ACCESS_ERR.',
  'QpExTestCase.test_qp_ex_rc_atomic_write': 'RC wr_atomic_write of 8 bytes: SUCCESS and the bytes land.',
  'QpExTestCase.test_qp_ex_rc_rdma_write': 'RC wr_rdma_write both ways.',
  'QpExTestCase.test_qp_ex_rc_rdma_write_imm':
    'RC wr_rdma_write_imm 1234, ping-pong: the receive has WITH_IMM and that value, the data lands.',
  'QpExTestCase.test_qp_ex_rc_rdma_write_zero_size': 'RC wr_rdma_write of 0 bytes: SUCCESS.',
  'QpExTestCase.test_qp_ex_rc_rdma_read': 'RC wr_rdma_read both ways.',
  'QpExTestCase.test_qp_ex_rc_rdma_read_zero_size': 'RC wr_rdma_read of 0 bytes: SUCCESS.',
  'QpExTestCase.test_qp_ex_rc_atomic_cmp_swp':
    'RC wr_atomic_cmp_swp with an unequal value: target unchanged, old value returned.',
  'QpExTestCase.test_qp_ex_rc_atomic_fetch_add': 'RC wr_atomic_fetch_add: sum and old value right.',
  'QpExTestCase.test_qp_ex_rc_bind_mw':
    'wr_bind_mw of a type 2 window with LOCAL_WRITE only completes SUCCESS; a wr_rdma_write through its key (rkey incremented) completes REM_ACCESS_ERR.',
  'QpExTestCase.test_post_receive_qp_state_bad_flow': 'post_recv on a UD QP moved back to RESET fails with EINVAL.',
  'QpExTestCase.test_post_send_qp_state_bad_flow': 'wr_send on a UD QP moved back to RESET fails with EINVAL.',
  'QpExTestCase.test_full_rq_bad_flow': 'One receive more than the queried max_recv_wr fails with ENOMEM.',
  'QpExTestCase.test_rq_with_larger_sgl_bad_flow': 'post_recv with max_recv_sge + 1 SGEs fails with EINVAL.',
});
