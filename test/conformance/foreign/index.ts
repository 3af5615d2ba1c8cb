import { rdmaUnitTestAccess } from './rdma-unit-test-access.js';
import { rdmaUnitTestAh } from './rdma-unit-test-ah.js';
import { rdmaUnitTestAsyncEvent } from './rdma-unit-test-async-event.js';
import { rdmaUnitTestBuffer } from './rdma-unit-test-buffer.js';
import { rdmaUnitTestCompChannel } from './rdma-unit-test-comp-channel.js';
import { rdmaUnitTestCqEx } from './rdma-unit-test-cq-ex.js';
import { rdmaUnitTestCq } from './rdma-unit-test-cq.js';
import { rdmaUnitTestDevice } from './rdma-unit-test-device.js';
import { rdmaUnitTestHugepage } from './rdma-unit-test-hugepage.js';
import { rdmaUnitTestMr } from './rdma-unit-test-mr.js';
import { rdmaUnitTestMw } from './rdma-unit-test-mw.js';
import { rdmaUnitTestPd } from './rdma-unit-test-pd.js';
import { rdmaUnitTestQp } from './rdma-unit-test-qp.js';
import { rdmaUnitTestRc } from './rdma-unit-test-rc.js';
import { rdmaUnitTestSrq } from './rdma-unit-test-srq.js';
import { rdmaUnitTestStress } from './rdma-unit-test-stress.js';
import { rdmaUnitTestThreaded } from './rdma-unit-test-threaded.js';
import { rdmaUnitTestUd } from './rdma-unit-test-ud.js';
import { type ForeignCase } from './types.js';

export { type ForeignCase, type ForeignSource } from './types.js';

/** Every case of both foreign suites; `${source}:${name}` is unique. */
export const foreignCases: readonly ForeignCase[] = [
  ...rdmaUnitTestAccess,
  ...rdmaUnitTestAh,
  ...rdmaUnitTestAsyncEvent,
  ...rdmaUnitTestBuffer,
  ...rdmaUnitTestCompChannel,
  ...rdmaUnitTestCqEx,
  ...rdmaUnitTestCq,
  ...rdmaUnitTestDevice,
  ...rdmaUnitTestHugepage,
  ...rdmaUnitTestMr,
  ...rdmaUnitTestMw,
  ...rdmaUnitTestPd,
  ...rdmaUnitTestQp,
  ...rdmaUnitTestRc,
  ...rdmaUnitTestSrq,
  ...rdmaUnitTestStress,
  ...rdmaUnitTestThreaded,
  ...rdmaUnitTestUd,
];
