import type { Mapping } from './types.js';

const note =
  '32 MiB, aligned as huge pages are and registered HUGETLB: which pages the kernel takes for a buffer is out of the hands of a JavaScript program.';

export const mapping: Mapping = {
  'HugePageTest.SendLargeChunk': { test: 'buffer-large: large memory › is sent as one message of one piece', note },
  'HugePageTest.SendMultipleSge': { test: 'buffer-large: large memory › is sent as one message of four pieces', note },
};
