import { casesOf } from './types.js';

export const rdmaUnitTestAh = casesOf('rdma-unit-test', 'unit/ah_test.cc', {
  'AhTest.CreateAndDestroy':
    'create_ah towards the own GID returns a handle with the context and pd asked for; destroy_ah returns 0.',
  'AhTest.DestroyWithInvalidHandle':
    'destroy_ah of an address handle whose kernel handle is 0xDEADBEEF returns non-zero and errno equals what it returned.',
});
