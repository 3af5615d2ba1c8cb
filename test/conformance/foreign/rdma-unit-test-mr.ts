import { casesOf } from './types.js';

// The rereg_mr cases run only on providers that are listed as able to (rxe is not among them).
export const rdmaUnitTestMr = casesOf('rdma-unit-test', 'unit/mr_test.cc', {
  'MrTest.RegisterMemory':
    'reg_mr of four pages returns a region whose pd, addr and length are those given; dereg_mr returns 0.',
  'MrTest.DeregInvalidMr': 'dereg_mr of a region with a broken handle returns ENOENT and sets errno to it.',
  'MrTest.RemoteWriteWithoutLocalWrite': 'reg_mr with REMOTE_WRITE and REMOTE_READ but no LOCAL_WRITE returns null.',
  'MrTest.RemoteAtomicWithoutLocalWrite': 'reg_mr with REMOTE_READ and REMOTE_ATOMIC but no LOCAL_WRITE returns null.',
  'MrTest.ReregMrChangeAddress':
    'rereg_mr CHANGE_TRANSLATION to another buffer returns 0 and the region has its addr and length.',
  'MrTest.ReregMrChangePd': 'rereg_mr CHANGE_PD returns 0 and the region names the new PD.',
  'MrTest.ReregMrInvalidPermission':
    'rereg_mr CHANGE_ACCESS to REMOTE_WRITE without LOCAL_WRITE returns REREG_MR_ERR_CMD.',
  'MrTest.ReregMrInvalidBuffer': 'rereg_mr CHANGE_TRANSLATION to a length of 0 returns REREG_MR_ERR_INPUT.',
  'MrLoopbackTest.OutstandingRecv':
    'dereg_mr of a region under a posted receive returns 0, and one poll of the sender’s CQ finds nothing.',
  'MrLoopbackTest.ReregMrChangeAccess':
    'rereg_mr CHANGE_ACCESS of the remote region to LOCAL_WRITE and REMOTE_WRITE returns 0; a READ from it then completes REM_ACCESS_ERR.',
  'MrLoopbackTest.OutstandingRead':
    'The local region is deregistered (returns 0) while READs stream, up to 100 outstanding: some complete SUCCESS and some LOC_PROT_ERR, none is lost, posting keeps returning 0.',
  'MrLoopbackTest.OutstandingWrite':
    'The local region is deregistered (returns 0) while WRITEs stream, up to 100 outstanding: some complete SUCCESS, every WR completes, posting keeps returning 0.',
});
