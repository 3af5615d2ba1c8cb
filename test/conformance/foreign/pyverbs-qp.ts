import { casesOf } from './types.js';

// Queue sizes are drawn at random (WRs up to an eighth of max_qp_wr, SGEs up to half of max_sge). "With attributes" the
// wrapper moves the new QP on: RC and UC to INIT, UD and raw packet to RTS. Raw packet needs CAP_NET_RAW and Ethernet.
export const pyverbsQp = casesOf('pyverbs', 'tests/test_qp.py', {
  'QPTest.test_create_rc_qp_no_attr': 'create_qp RC: state RESET.',
  'QPTest.test_create_uc_qp_no_attr': 'create_qp UC: state RESET.',
  'QPTest.test_create_ud_qp_no_attr': 'create_qp UD: state RESET.',
  'QPTest.test_create_raw_qp_no_attr': 'create_qp RAW_PACKET: state RESET.',
  'QPTest.test_create_rc_qp_with_attr': 'create_qp RC with attributes: state INIT.',
  'QPTest.test_create_uc_qp_with_attr': 'create_qp UC with attributes: state INIT.',
  'QPTest.test_create_ud_qp_with_attr': 'create_qp UD with attributes: state RTS.',
  'QPTest.test_create_raw_qp_with_attr': 'create_qp RAW_PACKET with attributes: state RTS.',
  'QPTest.test_create_rc_qp_ex_no_attr': 'create_qp_ex RC: state RESET.',
  'QPTest.test_create_uc_qp_ex_no_attr': 'create_qp_ex UC: state RESET.',
  'QPTest.test_create_ud_qp_ex_no_attr': 'create_qp_ex UD: state RESET.',
  'QPTest.test_create_raw_qp_ex_no_attr': 'create_qp_ex RAW_PACKET: state RESET.',
  'QPTest.test_create_rc_qp_ex_with_attr': 'create_qp_ex RC with attributes: state INIT.',
  'QPTest.test_create_uc_qp_ex_with_attr': 'create_qp_ex UC with attributes: state INIT.',
  'QPTest.test_create_ud_qp_ex_with_attr': 'create_qp_ex UD with attributes: state RTS.',
  'QPTest.test_create_raw_qp_ex_with_attr': 'create_qp_ex RAW_PACKET with attributes: state RTS.',
  'QPTest.test_create_raw_qp_ex_with_illegal_caps_max_send_wr':
    'Despite the name create_qp UD with max_send_wr 0xffffffff (above max_qp_wr) fails with a non-zero errno.',
  'QPTest.test_create_raw_qp_ex_with_illegal_caps_max_send_sge':
    'Despite the name create_qp UD with max_send_sge 0xffff (above max_sge) fails with a non-zero errno.',
  'QPTest.test_create_raw_qp_ex_with_illegal_caps_max_recv_sge':
    'Despite the name create_qp UD with max_recv_sge 0xffff (above max_sge) fails with a non-zero errno.',
  'QPTest.test_create_raw_qp_ex_with_illegal_caps_max_recv_wr':
    'Despite the name create_qp UD with max_recv_wr 0xffffffff (above max_qp_wr) fails with a non-zero errno.',
  'QPTest.test_query_rc_qp':
    'query_qp of fresh RC QPs made by create_qp and create_qp_ex: state RESET (INIT on iWARP), every capability at least what was asked.',
  'QPTest.test_query_uc_qp': 'The same query_qp checks for UC.',
  'QPTest.test_query_ud_qp': 'The same query_qp checks for UD.',
  'QPTest.test_query_raw_qp': 'The same query_qp checks for RAW_PACKET.',
  'QPTest.test_query_data_in_order':
    'query_qp_data_in_order of SEND on a UD QP in RTS returns 0 or 1; with RETURN_CAPS 0, ALIGNED_128_BYTES, or that with WHOLE_MSG.',
  'QPTest.test_modify_ud_qp':
    'UD QP (create_qp and create_qp_ex): query_qp returns qkey 0x123 after INIT and sq_psn 0x45 after RTS; modify to RESET works.',
  'QPTest.test_create_ud_qp_with_privileged_qkey':
    'With CAP_NET_RAW a UD QP (create_qp and create_qp_ex) goes to INIT with qkey 0x80000000 and query_qp returns it.',
  'QPTest.test_raw_qp_rate_limit_modify':
    'RAW_PACKET QP goes to RTS with rate_limit 5000; modify_qp_rate_limit to 0 then works (skipped where not supported).',
  'RCQPTest.test_modify_rc_qp_rd_atomic':
    'RC QP taken to RTS with max_rd_atomic and max_dest_rd_atomic 12: query_qp returns at least 12 for both.',
});
