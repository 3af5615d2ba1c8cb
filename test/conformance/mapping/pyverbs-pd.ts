import { type Mapping, testsOf } from './types.js';

const lifetime = testsOf('pd-lifetime', 'protection domains');

export const mapping: Mapping = {
  'PDTest.test_alloc_pd': { test: lifetime('name their device and can be ended') },
  'PDTest.test_dealloc_pd': { test: lifetime('name their device and can be ended') },
  'PDTest.test_multiple_pd_creation': {
    test: lifetime('can be made and ended by the hundreds, one after the other and all at once'),
  },
  'PDTest.test_destroy_pd_twice': { test: lifetime('may be disposed of as often as one likes') },
};
