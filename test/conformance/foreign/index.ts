import { rdmaUnitTestMw } from './rdma-unit-test-mw.js';
import { rdmaUnitTestQp } from './rdma-unit-test-qp.js';
import { rdmaUnitTestRc } from './rdma-unit-test-rc.js';
import { type ForeignCase } from './types.js';

export { type ForeignCase, type ForeignSource } from './types.js';

/** Every case of both foreign suites; `${source}:${name}` is unique. */
export const foreignCases: readonly ForeignCase[] = [...rdmaUnitTestMw, ...rdmaUnitTestQp, ...rdmaUnitTestRc];
