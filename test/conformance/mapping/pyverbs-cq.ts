import { type Mapping, testsOf } from './types.js';

const plain = testsOf('cq-creation', 'completion queues');
const size = testsOf('cq-resize', 'the size of a completion queue');

export const mapping: Mapping = {
  'CQAPITest.test_create_cq': {
    test: [
      plain('are of any size up to the device’s largest'),
      plain('can be on every completion vector of the context'),
    ],
    note: 'This device has completion vector 0 alone.',
  },
  'CQAPITest.test_create_cq_with_comp_channel': { test: plain('of any size can have a channel') },
  'CQAPITest.test_create_cq_bad_flow': {
    test: [
      plain('larger than the device’s largest are refused'),
      plain('on a completion vector that the context does not have are refused'),
    ],
  },
  'CQTest.test_resize_cq': {
    test: [
      size('becomes smaller and larger on demand'),
      size('cannot become less than what is waiting in it, all of which stays'),
    ],
  },
};
