import { casesOf } from './types.js';

export const rdmaUnitTestHugepage = casesOf('rdma-unit-test', 'unit/hugepage_test.cc', {
  'HugePageTest.SendLargeChunk':
    'RC SEND of 512 huge pages (1 GiB at 2 MiB each) completes SUCCESS at both ends with all data in place; skipped without that many huge pages.',
  'HugePageTest.SendMultipleSge':
    'The same 1 GiB of huge pages sent with 4 SGEs of 256 MiB into one receive SGE: SUCCESS at both ends with all data, or the post is refused.',
});
