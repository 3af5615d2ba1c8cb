import { casesOf } from './types.js';

export const pyverbsCq = casesOf('pyverbs', 'tests/test_cq.py', {
  'CQAPITest.test_create_cq':
    'create_cq with 1, half of max_cqe and max_cqe entries, on comp_vector 0 and 1, succeeds; so does comp_vector num_comp_vectors - 1.',
  'CQAPITest.test_create_cq_with_comp_channel':
    'create_cq with a completion channel and 1, half of max_cqe and max_cqe entries; the channel is then closed (only the absence of a crash is checked).',
  'CQAPITest.test_create_cq_bad_flow':
    'create_cq with max_cqe + 1 entries fails with EINVAL; so does comp_vector num_comp_vectors + 1.',
  'CQTest.test_resize_cq':
    'resize_cq of a 3-entry CQ to 1, then 7: cqe is at least what was asked; with 6 unpolled UD send completions, resize to 1 works or fails with EINVAL, and all 6 can be polled after.',
});
