import { type Mapping, testsOf } from './types.js';

const traffic = testsOf('parent-domain', 'traffic in a parent domain');

const NO_ALLOCATORS =
  'Allocators are for the C library’s own queues. Here those are JavaScript buffers that the runtime allocates, so that a parent domain takes none; what is left of the case is the traffic.';

export const mapping: Mapping = {
  'ParentDomainTrafficTest.test_without_allocators_rc_traffic': { test: traffic('works both ways: RC') },
  'ParentDomainTrafficTest.test_default_allocators_rc_traffic': {
    test: traffic('works both ways: RC with a thread domain'),
    note: NO_ALLOCATORS,
  },
  'ParentDomainTrafficTest.test_mem_align_rc_traffic': { test: traffic('works both ways: RC'), note: NO_ALLOCATORS },
  'ParentDomainTrafficTest.test_mem_align_ud_traffic': { test: traffic('works both ways: UD'), note: NO_ALLOCATORS },
  'ParentDomainTrafficTest.test_mem_align_srq_excq_rc_traffic': {
    test: traffic('works both ways: RC with a shared receive queue and extended completions'),
    note: `${NO_ALLOCATORS} CQs are of the device alone.`,
  },
  'ParentDomainTrafficTest.test_huge_page_traffic': {
    test: traffic('works both ways over parts of one large piece of memory'),
    note: `${NO_ALLOCATORS} Ours has the regions lie in one large piece.`,
  },
};
