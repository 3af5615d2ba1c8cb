import { casesOf } from './types.js';

export const pyverbsPd = casesOf('pyverbs', 'tests/test_pd.py', {
  'PDTest.test_alloc_pd': 'alloc_pd succeeds.',
  'PDTest.test_dealloc_pd': 'alloc_pd then dealloc_pd succeeds.',
  'PDTest.test_multiple_pd_creation': '1 to 200 PDs, one after the other, are allocated and freed.',
  'PDTest.test_destroy_pd_twice': 'Closing a PD object twice raises nothing (the wrapper frees once).',
});
