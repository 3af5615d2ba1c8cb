import { type Mapping, testsOf } from './types.js';

const lifetime = testsOf('pd-lifetime', 'protection domains');
const memory = testsOf('pd-memory', 'memory of another protection domain than the queue pair’s');
const srq = testsOf('pd-memory', 'a shared receive queue of another protection domain than the queue pair’s');
const window = testsOf('pd-windows', 'a window and another protection domain');
const ENDED = 'The domain has ended, since a program has no handle to break: EINVAL.';

export const mapping: Mapping = {
  'PdTest.AllocPd': { test: lifetime('name their device and can be ended') },
  'PdTest.DeleteInvalidPd': { test: lifetime('cannot be ended twice'), note: ENDED },
  'PdTest.AllocQpWithInvalidPd': { test: lifetime('take no queue pair after their end'), note: ENDED },
  'PdTest.AllocMrWithInvalidPd': { test: lifetime('take no region after their end'), note: ENDED },
  'PdTest.AllocMwWithInvalidPd': { test: lifetime('take no window of type 1 after their end'), note: ENDED },
  'PdTest.AhRefCount': { test: lifetime('cannot be ended while an address handle is in them') },
  'PdTest.MrRefCount': { test: lifetime('cannot be ended while a region is in them') },
  'PdTest.MwRefCount': { test: lifetime('cannot be ended while a window of type 1 is in them') },
  'PdTest.QpRefCount': { test: lifetime('cannot be ended while a queue pair is in them') },
  'PdTest.SrqRefCount': { test: lifetime('cannot be ended while a shared receive queue is in them') },
  'PdBindTest.MwOnOtherPd': {
    test: [
      window('type 1: the window alone is of another domain than queue pair and region'),
      window('type 2: the window alone is of another domain than queue pair and region'),
    ],
  },
  'PdBindTest.MrOnOtherPd': {
    test: [
      window('type 1: the region alone is of another domain than queue pair and window'),
      window('type 2: the region alone is of another domain than queue pair and window'),
    ],
    note: 'Ours has the region alone in the other domain; both of them there is the next case.',
  },
  'PdBindTest.MrMwOnOtherPd': {
    test: [
      window('type 1: window and region are of another domain than the queue pair'),
      window('type 2: window and region are of another domain than the queue pair'),
    ],
  },
  'PdRcLoopbackMrTest.SendMrOtherPdLocal': { test: memory('cannot be sent') },
  'PdRcLoopbackMrTest.SendMrOtherPdRemote': { test: memory('cannot be received into: both sides fail') },
  'PdRcLoopbackMrTest.BasicReadMrOtherPdLocal': { test: memory('is not there for a READ at home') },
  'PdRcLoopbackMrTest.BasicReadMrOtherPdRemote': { test: memory('is not there for a READ of a peer') },
  'PdRcLoopbackMrTest.BasicWriteMrOtherPdLocal': { test: memory('is not there for a WRITE at home') },
  'PdRcLoopbackMrTest.BasicWriteMrOtherPdRemote': { test: memory('is not there for a WRITE of a peer') },
  'PdRcLoopbackMrTest.BasicFetchAddMrOtherPdLocal': { test: memory('is not there for a FETCH_ADD at home') },
  'PdRcLoopbackMrTest.BasicFetchAddMrOtherPdRemote': { test: memory('is not there for a FETCH_ADD of a peer') },
  'PdRcLoopbackMrTest.BasicCompSwapMrOtherPdLocal': { test: memory('is not there for a CMP_SWAP at home') },
  'PdRcLoopbackMrTest.BasicCompSwapMrOtherPdRemote': { test: memory('is not there for a CMP_SWAP of a peer') },
  'PdUdLoopbackTest.SendAhOnOtherPd': {
    test: 'pd-memory: an address handle of another protection domain than the queue pair’s › takes no datagram anywhere',
    note: 'Of the two outcomes that theirs allows, ours is LOC_QP_OP_ERR (IBTA 11.4.1.1).',
  },
  'PdType1MwTest.ReadMwOtherPd': {
    test: window('type 1: a READ that comes in by a queue pair of another domain does not get through'),
  },
  'PdType1MwTest.WriteMwOtherPd': {
    test: window('type 1: a WRITE that comes in by a queue pair of another domain does not get through'),
  },
  'PdType1MwTest.FetchAddMwOtherPd': {
    test: window('type 1: a FETCH_ADD that comes in by a queue pair of another domain does not get through'),
  },
  'PdType1MwTest.CompSwapMwOtherPd': {
    test: window('type 1: a CMP_SWAP that comes in by a queue pair of another domain does not get through'),
  },
  'PdSrqTest.CreateSrq': { test: srq('can serve it') },
  'PdSrqTest.SrqRecvMrSrqMatch': { test: srq('receives into memory of its own domain') },
  'PdSrqTest.SrqRecvMrSrqMismatch': { test: srq('does not receive into memory of the queue pair’s domain') },
  'PdSrqTest.QpSrqPdMismatchWriteWithImm': {
    test: srq('tells of immediate data that comes with a WRITE to the queue pair’s domain'),
  },
};
