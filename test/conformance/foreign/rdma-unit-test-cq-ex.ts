import { casesOf } from './types.js';

// Extended CQs are asked for QP_NUM and, where the device has them, for both completion timestamps.
export const rdmaUnitTestCqEx = casesOf('rdma-unit-test', 'unit/cq_ex_test.cc', {
  'CqExTest.Basic': 'create_cq_ex with cqe 10 succeeds; destroy_cq returns 0.',
  'CqExTest.DestroyInvalidCqEx': 'destroy_cq of an extended CQ with a broken handle returns ENOENT.',
  'CqExTest.ZeroCqe': 'create_cq_ex with cqe 0 returns null.',
  'CqExTest.MaxCqe': 'create_cq_ex with cqe max_cqe succeeds, with max_cqe + 1 returns null.',
  'CqExTest.WithChannel': 'create_cq_ex with a completion channel succeeds; destroy_cq returns 0.',
  'CqExTest.ShareChannel': 'Two extended CQs on one channel are created and both destroyed with 0.',
  'CqExTest.ZeroCompVector': 'create_cq_ex with comp_vector 0 succeeds; destroy_cq returns 0.',
  'CqExTest.LargeCompVector': 'create_cq_ex with comp_vector num_comp_vectors - 1 succeeds; destroy_cq returns 0.',
  'CqExTest.AboveMaxCompVector': 'create_cq_ex with comp_vector num_comp_vectors returns null.',
  'CqExOpTest.BasicPollSendCq':
    'A WRITE on extended CQs (cqe max_cqe): start_poll finds SUCCESS and supported timestamps (HCA clock, wall clock) read above 0.',
  'CqExOpTest.BasicPollRecvCq':
    'A SEND on extended CQs: start_poll on the receive CQ finds SUCCESS and supported timestamps read above 0.',
  'CqExOpTest.BatchPollSendCq':
    '20 QP pairs with 3 WRITEs each on one extended CQ: start_poll and next_poll give 60 SUCCESS, wr_ids in order per QP, timestamps never falling per QP.',
  'CqExOpTest.BatchPollRecvCq':
    '20 QP pairs with 3 SENDs each on one extended receive CQ: the first 3 completions polled are SUCCESS, wr_ids in order per QP, timestamps never falling per QP.',
  'CqExOverflowTest.SendCqOverflow':
    'Only where a full CQ overwrites: cqe + 10 WRITEs land their data, then cqe completions are polled SUCCESS in order and no more.',
  'CqExOverflowTest.RecvCqOverflow':
    'Only where a full CQ overwrites: cqe + 10 SENDs land their data, then cqe receive completions are polled SUCCESS in order and no more.',
});
