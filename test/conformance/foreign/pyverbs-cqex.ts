import { casesOf } from './types.js';

export const pyverbsCqex = casesOf('pyverbs', 'tests/test_cqex.py', {
  'CqExTestCase.test_ud_traffic_cq_ex':
    'UD SEND ping-pong, 100 rounds, polled by start_poll/end_poll on extended CQs (2000 entries, standard flags): SUCCESS with the data.',
  'CqExTestCase.test_rc_traffic_cq_ex': 'The same 100 rounds of SEND over RC on extended CQs.',
  'CqExTestCase.test_xrc_traffic_cq_ex':
    'SEND ping-pong over two XRC QP pairs on extended CQs, 1000 messages each way per pair.',
  'CQEXAPITest.test_create_cq_ex':
    'create_cq_ex with each single wc_flag, then with each single create flag, succeeds or fails with EOPNOTSUPP only.',
  'CQEXAPITest.test_create_cq_ex_bad_flow':
    'create_cq_ex with max_cqe + 1 entries fails with EINVAL; so does comp_vector num_comp_vectors + 1.',
});
