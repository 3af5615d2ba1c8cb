import { type Mapping, testsOf } from './types.js';

export const mapping: Mapping = {
  'SrqTestCase.test_rc_srq_traffic': {
    test: 'srq-traffic: messages both ways over shared receive queues › arrive, over two queue pairs at each end',
  },
  'SrqTestCase.test_resize_srq': {
    test: testsOf('srq-creation', 'sizes of shared receive queues that change')('can double'),
  },
  'SrqTestCase.test_modify_srq_limit': {
    test: testsOf(
      'srq-limit',
      'limits of a shared receive queue',
    )('of 7 with 10 requests are reached by the message after 3, once'),
  },
};
