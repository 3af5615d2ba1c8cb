import { type Mapping, testsOf } from './types.js';

const handles = testsOf('ud-address-handles', 'address handles');

export const mapping: Mapping = {
  'AHTest.test_create_ah': { test: handles('to the device itself belong to their domain, and tell their address') },
  'AHTest.test_create_ah_roce': { test: handles('without a GRH are refused, since there are none over Ethernet') },
  'AHTest.test_destroy_ah': { test: handles('end once') },
};
