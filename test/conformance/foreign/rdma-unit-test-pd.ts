import { casesOf } from './types.js';

export const rdmaUnitTestPd = casesOf('rdma-unit-test', 'unit/pd_test.cc', {
  'PdTest.AllocPd': 'alloc_pd returns a PD that names its context; dealloc_pd returns 0.',
  'PdTest.DeleteInvalidPd': 'dealloc_pd of a PD with a broken handle returns ENOENT and sets errno to it.',
  'PdTest.AllocQpWithInvalidPd': 'create_qp on a PD with a broken handle returns null.',
  'PdTest.AllocMrWithInvalidPd': 'reg_mr on a PD with a broken handle returns null.',
  'PdTest.AllocMwWithInvalidPd': 'alloc_mw (type 1) on a PD with a broken handle returns null.',
  'PdTest.AhRefCount': 'dealloc_pd with an address handle on the PD returns EBUSY and sets errno to it.',
  'PdTest.MrRefCount': 'dealloc_pd with a region on the PD returns EBUSY and sets errno to it.',
  'PdTest.MwRefCount': 'dealloc_pd with a type 1 window on the PD returns EBUSY and sets errno to it.',
  'PdTest.QpRefCount': 'dealloc_pd with a QP on the PD returns EBUSY and sets errno to it.',
  'PdTest.SrqRefCount': 'dealloc_pd with an SRQ on the PD returns EBUSY and sets errno to it.',
  'PdBindTest.MwOnOtherPd':
    'Bind of a window from a PD other than the QP and region: type 2 completes MW_BIND_ERR; type 1 returns EPERM, or 0 and any status (opcode BIND_MW if SUCCESS).',
  'PdBindTest.MrOnOtherPd':
    'Bind of a window and region that are both on a PD other than the QP: type 2 completes MW_BIND_ERR; type 1 returns EPERM, or 0 and any status (opcode BIND_MW if SUCCESS).',
  'PdBindTest.MrMwOnOtherPd':
    'Bind of a window and region that are both on a PD other than the QP completes MW_BIND_ERR, types 1 and 2.',
  'PdRcLoopbackMrTest.SendMrOtherPdLocal': 'RC SEND from a region on a PD other than the QP completes LOC_PROT_ERR.',
  'PdRcLoopbackMrTest.SendMrOtherPdRemote':
    'RC SEND into a receive whose region is on another PD: receive LOC_PROT_ERR or LOC_QP_OP_ERR, sender REM_OP_ERR.',
  'PdRcLoopbackMrTest.BasicReadMrOtherPdLocal': 'READ into a local region on another PD completes LOC_PROT_ERR.',
  'PdRcLoopbackMrTest.BasicReadMrOtherPdRemote': 'READ of a remote region on another PD completes REM_ACCESS_ERR.',
  'PdRcLoopbackMrTest.BasicWriteMrOtherPdLocal': 'WRITE from a local region on another PD completes LOC_PROT_ERR.',
  'PdRcLoopbackMrTest.BasicWriteMrOtherPdRemote': 'WRITE to a remote region on another PD completes REM_ACCESS_ERR.',
  'PdRcLoopbackMrTest.BasicFetchAddMrOtherPdLocal':
    'FETCH_ADD with the local region on another PD completes LOC_PROT_ERR.',
  'PdRcLoopbackMrTest.BasicFetchAddMrOtherPdRemote':
    'FETCH_ADD on a remote region on another PD completes REM_ACCESS_ERR.',
  'PdRcLoopbackMrTest.BasicCompSwapMrOtherPdLocal':
    'CMP_SWAP with the local region on another PD completes LOC_PROT_ERR.',
  'PdRcLoopbackMrTest.BasicCompSwapMrOtherPdRemote':
    'CMP_SWAP on a remote region on another PD completes REM_ACCESS_ERR.',
  'PdUdLoopbackTest.SendAhOnOtherPd':
    'UD SEND through an address handle on another PD than the QP completes LOC_QP_OP_ERR, or SUCCESS with the packet dropped.',
  'PdType1MwTest.ReadMwOtherPd':
    'READ through a type 1 window bound on another PD (QP, region and window there) completes REM_ACCESS_ERR.',
  'PdType1MwTest.WriteMwOtherPd': 'WRITE through a type 1 window bound on another PD completes REM_ACCESS_ERR.',
  'PdType1MwTest.FetchAddMwOtherPd': 'FETCH_ADD through a type 1 window bound on another PD completes REM_ACCESS_ERR.',
  'PdType1MwTest.CompSwapMwOtherPd': 'CMP_SWAP through a type 1 window bound on another PD completes REM_ACCESS_ERR.',
  'PdSrqTest.CreateSrq': 'create_qp on one PD with an SRQ that is on another PD succeeds.',
  'PdSrqTest.SrqRecvMrSrqMatch':
    'SRQ and receive region on one PD, QPs and send region on another: a SEND completes SUCCESS at both ends.',
  'PdSrqTest.SrqRecvMrSrqMismatch':
    'SRQ on one PD, QPs and receive region on another: sender REM_OP_ERR, receive LOC_PROT_ERR.',
  'PdSrqTest.QpSrqPdMismatchWriteWithImm':
    'SRQ and receive region on one PD, QPs and WRITE target on another: WRITE_WITH_IMM completes SUCCESS at both ends.',
});
