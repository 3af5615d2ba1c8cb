import { pyverbsAddr } from './pyverbs-addr.js';
import { pyverbsAtomic } from './pyverbs-atomic.js';
import { pyverbsBuf } from './pyverbs-buf.js';
import { pyverbsCqEvents } from './pyverbs-cq-events.js';
import { pyverbsCq } from './pyverbs-cq.js';
import { pyverbsCqex } from './pyverbs-cqex.js';
import { pyverbsCudaDmabuf } from './pyverbs-cuda-dmabuf.js';
import { pyverbsDevice } from './pyverbs-device.js';
import { pyverbsDmah } from './pyverbs-dmah.js';
import { pyverbsFlow } from './pyverbs-flow.js';
import { pyverbsFork } from './pyverbs-fork.js';
import { pyverbsMr } from './pyverbs-mr.js';
import { pyverbsOdp } from './pyverbs-odp.js';
import { pyverbsParentDomain } from './pyverbs-parent-domain.js';
import { pyverbsPd } from './pyverbs-pd.js';
import { pyverbsPhcTimestamp } from './pyverbs-phc-timestamp.js';
import { pyverbsQp } from './pyverbs-qp.js';
import { pyverbsQpex } from './pyverbs-qpex.js';
import { pyverbsRdmacm } from './pyverbs-rdmacm.js';
import { pyverbsRelaxedOrdering } from './pyverbs-relaxed-ordering.js';
import { pyverbsRssTraffic } from './pyverbs-rss-traffic.js';
import { pyverbsSharedPd } from './pyverbs-shared-pd.js';
import { pyverbsSrq } from './pyverbs-srq.js';
import { pyverbsTagMatching } from './pyverbs-tag-matching.js';
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
  ...pyverbsAddr,
  ...pyverbsAtomic,
  ...pyverbsBuf,
  ...pyverbsCqEvents,
  ...pyverbsCq,
  ...pyverbsCqex,
  ...pyverbsCudaDmabuf,
  ...pyverbsDevice,
  ...pyverbsDmah,
  ...pyverbsFlow,
  ...pyverbsFork,
  ...pyverbsMr,
  ...pyverbsOdp,
  ...pyverbsParentDomain,
  ...pyverbsPd,
  ...pyverbsPhcTimestamp,
  ...pyverbsQp,
  ...pyverbsQpex,
  ...pyverbsRdmacm,
  ...pyverbsRelaxedOrdering,
  ...pyverbsRssTraffic,
  ...pyverbsSharedPd,
  ...pyverbsSrq,
  ...pyverbsTagMatching,
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
