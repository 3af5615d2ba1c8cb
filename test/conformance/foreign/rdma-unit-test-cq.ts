import { casesOf } from './types.js';

export const rdmaUnitTestCq = casesOf('rdma-unit-test', 'unit/cq_test.cc', {
  'CqTest.Basic':
    'create_cq with cqe 10 and no channel returns a CQ with that context, channel null, cqe at least 10; destroy_cq returns 0.',
  'CqTest.DestroyInvalidCq': 'destroy_cq of a CQ with a broken handle returns ENOENT.',
  'CqTest.NegativeCqe': 'create_cq with cqe -1 returns null.',
  'CqTest.ZeroCqe': 'create_cq with cqe 0 returns null.',
  'CqTest.MaxCqe': 'create_cq with cqe max_cqe succeeds, with max_cqe + 1 returns null.',
  'CqTest.WithChannel': 'create_cq with a completion channel succeeds; destroy_cq returns 0.',
  'CqTest.ShareChannel': 'Two CQs on one channel are created and both destroyed with 0.',
  'CqTest.NegativeCompVector': 'create_cq with comp_vector -1 returns null.',
  'CqTest.ZeroCompVector': 'create_cq with comp_vector 0 succeeds; destroy_cq returns 0.',
  'CqTest.LargeCompVector': 'create_cq with comp_vector num_comp_vectors - 1 succeeds; destroy_cq returns 0.',
  'CqTest.AboveMaxCompVector': 'create_cq with comp_vector num_comp_vectors returns null.',
  'CqBatchOpTest.SendSharedCq':
    'Two QPs, a thread each, fill one CQ to cqe - 10 with one-byte WRITEs: every completion SUCCESS and wr_ids in order per QP.',
  'CqBatchOpTest.RecvSharedCq':
    'Two receiving QPs share one receive CQ filled to cqe - 10 by one-byte SENDs from two threads: every completion SUCCESS and wr_ids in order per QP.',
  'CqOverflowTest.SendCqOverflow':
    'Only where a full CQ overwrites: cqe + 10 one-byte WRITEs land their data, then cqe completions are polled SUCCESS in order and no more.',
  'CqOverflowTest.SendSharedCqOverflow':
    'Only where a full CQ overwrites: five QPs, a thread each, do cqe WRITEs apiece on one CQ; all data lands, then cqe completions are polled SUCCESS, in order per QP, and no more.',
  'CqOverflowTest.RecvCqOverflow':
    'Only where a full CQ overwrites: cqe + 10 SENDs land their data, then cqe receive completions are polled SUCCESS in order and no more.',
  'CqOverflowTest.RecvSharedCqOverflow':
    'Only where a full CQ overwrites: five QPs receive cqe SENDs apiece on one CQ; all data lands, then cqe completions are polled SUCCESS, in order per QP, and no more.',
});
