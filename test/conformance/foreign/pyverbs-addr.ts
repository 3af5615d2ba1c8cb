import { casesOf } from './types.js';

export const pyverbsAddr = casesOf('pyverbs', 'tests/test_addr.py', {
  'AHTest.test_create_ah': 'create_ah with a GRH towards the own GID (is_global 1) on an active port succeeds.',
  'AHTest.test_create_ah_roce': 'On an Ethernet port, create_ah without a GRH (is_global 0) must fail (any errno).',
  'AHTest.test_destroy_ah': 'An address handle with a GRH towards the own GID is created and destroyed without error.',
});
