import { type Mapping, testsOf } from './types.js';

const stress = testsOf('threaded-stress', 'many connections on one CQ');

export const mapping: Mapping = {
  'StressTest.Write32B100Qp100kOps': { test: stress('complete every one of 100,000 WRITEs, posted to each in turn') },
};
