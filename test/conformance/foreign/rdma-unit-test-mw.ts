import { casesOf } from './types.js';

// One PD, CQ, buffer and region; local and remote are the two ends of a loopback RC pair. A window is bound on the
// remote QP with remote read, write and atomic access unless said otherwise. A "broken handle" is XORed with garbage.
export const rdmaUnitTestMw = casesOf('rdma-unit-test', 'unit/mw_test.cc', {
  'MwGeneralTest.Alloc':
    'Types 1 and 2: alloc_mw returns a window with the pd and type asked for; dealloc_mw returns 0.',
  'MwGeneralTest.DeallocInvalidMw': 'Types 1 and 2: dealloc_mw of a window with a broken handle returns ENOENT.',
  'MwGeneralTest.Bind': 'Types 1 and 2: binding a window to the whole region completes SUCCESS.',
  'MwGeneralTest.Read': 'Types 1 and 2: a READ through the bound window key completes SUCCESS.',
  'MwGeneralTest.ReadZeroBased':
    'Type 2 only: window bound with ZERO_BASED added; a READ at remote address 0 through its key completes SUCCESS.',
  'MwGeneralTest.BindReadDiffQp':
    'Window bound on the requesting QP, then READ from there into the other end: type 1 completes SUCCESS, type 2 REM_ACCESS_ERR (the window belongs to another QP).',
  'MwGeneralTest.BindInvalidMr':
    'Types 1 and 2: bind naming a region with a broken handle posts with 0 and completes SUCCESS (then a READ through the window is SUCCESS) or MW_BIND_ERR.',
  'MwGeneralTest.BindInvalidMw':
    'Types 1 and 2: bind of a window with a broken handle posts with 0 and completes SUCCESS (then a READ is SUCCESS) or MW_BIND_ERR (then the QP is in ERR and a READ gets RETRY_EXC_ERR).',
  'MwGeneralTest.BindInvalidQp':
    'Types 1 and 2: bind posted to a QP with a broken handle returns ENOENT, or 0 and completes SUCCESS (then a READ is SUCCESS) or MW_BIND_ERR.',
  'MwGeneralTest.DeregMrWhenBound':
    'Types 1 and 2: dereg_mr of a region with a window bound must return EBUSY, and a READ through the window still completes SUCCESS (a dereg that returns 0 fails the test).',
  'MwType1Test.BindZeroLengthMw':
    'Binding a bound type 1 window again with length 0 completes SUCCESS; a READ through the former rkey completes REM_ACCESS_ERR.',
  'MwType1Test.UnsignaledBindError':
    'Unsignaled type 1 bind over memory outside the region still gives a completion, MW_BIND_ERR.',
  'MwType1Test.DestroyQpWithType1Bound': 'destroy_qp of the QP on which a type 1 window was bound returns 0.',
  'MwType1Test.CrossQpManagement': 'A type 1 window bound on one QP can be bound again on the other: SUCCESS.',
  'MwType1Test.DeallocPdWithOutstandingMw': 'dealloc_pd while a type 1 window is allocated on it returns EBUSY.',
  'MwType1Test.BindType1WhenQpError': 'A type 1 bind on a QP in ERR completes WR_FLUSH_ERR.',
  'MwType2Test.Bind':
    'Type 2 bind (read, write, atomic) to a region with MW_BIND and all remote access completes SUCCESS.',
  'MwType2Test.UnsignaledBind':
    'Unsignaled type 2 bind (wr_id 1) then a signaled one of a second window (wr_id 2): the first completion is wr_id 2, SUCCESS.',
  'MwType2Test.BindZeroLengthMw': 'A type 2 bind of length 0 completes MW_BIND_ERR.',
  'MwType2Test.BindRKeyReuse':
    'Two type 2 windows bound with the same rkey argument: both SUCCESS, and their rkeys differ (only the low 8 bits are the caller’s).',
  'MwType2Test.DistinctRKeys':
    'min(4096, max_mw) type 2 windows bound with the same key: each SUCCESS, low 8 bits of every rkey as asked, all rkeys distinct.',
  'MwType2Test.UnsignaledBindError':
    'Unsignaled type 2 bind over memory outside the region still gives a completion, MW_BIND_ERR.',
  'MwType2Test.LocalInvalidate':
    'LOCAL_INV of a bound type 2 window completes SUCCESS; a READ through its key then completes REM_ACCESS_ERR.',
  'MwType2Test.UnsignaledLocalInvalidate':
    'Unsignaled LOCAL_INV of a bound type 2 window leaves no completion of its own; the READ after it, through the key, completes REM_ACCESS_ERR.',
  'MwType2Test.UnsignaledLocalInvalidateError':
    'Unsignaled LOCAL_INV of an rkey with the wrong key byte (rkey + 1), on the other QP, completes with some error.',
  'MwType2Test.Type1BindOnType2': 'bind_mw (the type 1 verb) on a type 2 window returns EINVAL.',
  'MwType2Test.DestroyQpWithType2Bound': 'destroy_qp of the QP to which a type 2 window is bound returns 0.',
  'MwType2Test.DeregMrWhenBound':
    'dereg_mr with a type 2 window bound returns 0 (then a READ through the window gets REM_ACCESS_ERR) or EBUSY (then it gets SUCCESS).',
  'MwType2Test.RebindToDifferentQp': 'Binding a bound type 2 window again on another QP completes MW_BIND_ERR.',
  'MwType2Test.RebindToDifferentRKey':
    'Binding a bound type 2 window again on the same QP with another key completes MW_BIND_ERR.',
  'MwType2Test.CrossQpInvalidate':
    'LOCAL_INV posted on the QP to which the type 2 window is not bound completes MW_BIND_ERR.',
  'MwType2Test.CrossQpRead':
    'READ over another QP pair of the same PD through a type 2 window bound to the first pair completes REM_ACCESS_ERR.',
  'MwType2Test.BindType1WhenQpError': 'A type 2 bind (despite the name) on a QP in ERR completes WR_FLUSH_ERR.',
  'MwBindAccessTest.MwBindAccessTests':
    'Types 1 and 2 by 8 access pairs: SUCCESS for region all/window all, MW_BIND only/none or REMOTE_READ, LOCAL_WRITE+MW_BIND/REMOTE_WRITE or ATOMIC; MW_BIND_ERR, LOC_QP_OP_ERR or WR_FLUSH_ERR without MW_BIND, or without LOCAL_WRITE for WRITE or ATOMIC.',
  'MwType2AdvancedTest.OnlyReads':
    'A thread keeps up to 400 READs outstanding through a type 2 window until more than 100 completed or one fails; only that it ends is checked.',
  'MwType2AdvancedTest.Rebind':
    'While READs stream through a type 2 window, the owner binds it again with rkey + 1: that completes MW_BIND_ERR with opcode BIND_MW, and the READ stream ends with REM_ACCESS_ERR.',
  'MwType2AdvancedTest.Invalidate':
    'While READs stream through a type 2 window, the owner posts LOCAL_INV: SUCCESS with opcode LOCAL_INV, and the READ stream ends with REM_ACCESS_ERR.',
  'MwType2AdvancedTest.Dealloc':
    'While READs stream through a type 2 window, dealloc_mw returns 0 and the READ stream ends with REM_ACCESS_ERR.',
});
