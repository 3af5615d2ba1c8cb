import { type Mapping, type MappingEntry, testsOf } from './types.js';

const datagrams = testsOf('ud-datagrams', 'datagrams');
const pairs = testsOf('ud-refusals', 'datagram queue pairs');
const mixed = testsOf('ud-refusals', 'queue pairs of UD and RC that talk past each other');

const without = (opcode: string): MappingEntry => ({
  test: pairs(`have no ${opcode}: it is refused, changes nothing, and the queue pair works on`),
  note: 'Refused while posting, with EINVAL (protocol/services.md 3.9), so that it does not complete at all.',
});

export const mapping: Mapping = {
  'LoopbackUdQpTest.Send': {
    test: datagrams('arrive behind the header that tells their way, with the number of who has sent them'),
  },
  'LoopbackUdQpTest.SendLargerThanMtu': {
    test: datagrams('longer than the MTU end in LOC_LEN_ERR, and do not arrive'),
  },
  'LoopbackUdQpTest.SendRnr': { test: datagrams('that nobody waits for are sent, and lost') },
  'LoopbackUdQpTest.SendRnrUnsignaledBatch': {
    test: datagrams('that nobody waits for are sent in batches of which only the last is signaled'),
  },
  'LoopbackUdQpTest.SendTrafficClass': { test: datagrams('show the traffic class of their address handle') },
  'LoopbackUdQpTest.SendWithTooSmallRecv': {
    test: datagrams('longer than the request that waits are lost, and the request waits on'),
  },
  'LoopbackUdQpTest.SendInvalidAh': {
    test: [
      pairs('refuse an address handle that has ended'),
      pairs('end what is sent by an address handle of another domain in LOC_QP_OP_ERR'),
    ],
    note: 'There is no handle to break. One that has ended is refused while posting; one that the NIC finds wrong completes with LOC_QP_OP_ERR.',
  },
  'LoopbackUdQpTest.SendInvalidQpn': {
    test: pairs('lose in silence what is sent to a number that no queue pair has'),
    note: 'With a number of 24 bits; one of 32 is refused while posting.',
  },
  'LoopbackUdQpTest.SendInvalidQKey': { test: pairs('lose in silence what is sent to another Q_Key') },
  'LoopbackUdQpTest.Read': without('READ'),
  'LoopbackUdQpTest.PollMultipleCqe': { test: datagrams('complete one by one at either end') },
  'LoopbackUdQpTest.Write': without('WRITE'),
  'LoopbackUdQpTest.FetchAdd': without('FETCH_ADD'),
  'LoopbackUdQpTest.CompareSwap': without('CMP_SWAP'),
  'LoopbackUdQpTest.MultiThreadedAhLifecycle': {
    test: [
      'threaded-devices: five threads at the same time › make and end AHs one by one',
      'threaded-devices: five threads at the same time › make many AHs, have them all at once, and end them',
    ],
    note: 'A context belongs to the thread that opened it, so each thread has a device of its own.',
  },
  'AdvancedLoopbackTest.RcSendToUd': { test: mixed('RC hears no answer of UD, and ends in RETRY_EXC_ERR') },
  'AdvancedLoopbackTest.UdSendToRc': { test: mixed('UD sends to RC in vain') },
};
