import { casesOf } from './types.js';

// A parent domain over a PD, optionally with the caller's allocator for the library's own queue memory; all objects
// are made on it. Ten rounds of SEND both ways, SUCCESS with the data; skipped on EOPNOTSUPP.
export const pyverbsParentDomain = casesOf('pyverbs', 'tests/test_parent_domain.py', {
  'ParentDomainTrafficTest.test_without_allocators_rc_traffic': 'RC traffic on a parent domain without allocators.',
  'ParentDomainTrafficTest.test_default_allocators_rc_traffic':
    'RC traffic with allocators that answer "use the default".',
  'ParentDomainTrafficTest.test_mem_align_rc_traffic':
    'RC traffic with allocators that return posix_memalign memory and free it.',
  'ParentDomainTrafficTest.test_mem_align_ud_traffic': 'UD traffic with posix_memalign allocators.',
  'ParentDomainTrafficTest.test_mem_align_srq_excq_rc_traffic':
    'RC traffic with SRQ and an extended CQ that is created on the parent domain, posix_memalign allocators.',
  'ParentDomainTrafficTest.test_huge_page_traffic':
    'RC traffic with an allocator that hands out parts of one 2 MiB huge page.',
});
