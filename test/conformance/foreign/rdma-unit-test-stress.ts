import { casesOf } from './types.js';

export const rdmaUnitTestStress = casesOf('rdma-unit-test', 'unit/stress_test.cc', {
  'StressTest.Write32B100Qp100kOps':
    '100,000 WRITEs of 32 bytes round robin over 100 RC pairs on one CQ, up to 32 outstanding each: every one completes SUCCESS, none is missing (gives up after 20 s of silence).',
});
