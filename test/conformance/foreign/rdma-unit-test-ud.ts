import { casesOf } from './types.js';

// Two UD QPs in RTS with Q_Key 200 on contexts of their own; 1000-byte messages into receives with 40 bytes for the
// GRH. "Still works" means: no completion at the receiver, then a 10-byte SEND arrives there, SUCCESS with byte_len 50.
export const rdmaUnitTestUd = casesOf('rdma-unit-test', 'unit/ud_test.cc', {
  'LoopbackUdQpTest.Send':
    'UD SEND of 1000 bytes: SUCCESS/SEND and SUCCESS/RECV with byte_len 1040 and the data after a 40-byte GRH area.',
  'LoopbackUdQpTest.SendLargerThanMtu':
    'UD SEND of active_mtu + 10 bytes completes LOC_LEN_ERR; with a fresh sending QP the receive posted before is unconsumed and still works.',
  'LoopbackUdQpTest.SendRnr':
    'UD SEND with no receive posted completes SUCCESS (or GENERAL_ERR) and is dropped; the receiver still works once a receive is posted.',
  'LoopbackUdQpTest.SendRnrUnsignaledBatch':
    'Ten rounds of 100 unsignaled and 1 signaled UD SENDs with no receive posted: the signaled one completes SUCCESS (or GENERAL_ERR); the receiver still works after.',
  'LoopbackUdQpTest.SendTrafficClass':
    'UD SEND through an address handle with traffic_class 0xff: in the received GRH area (IPv4 header in its last 20 bytes, or IPv6) the upper six bits of TOS or traffic class are set.',
  'LoopbackUdQpTest.SendWithTooSmallRecv':
    'UD SEND into a receive 100 bytes too short: sender SUCCESS, receiver no completion, and that receive is unconsumed and still works.',
  'LoopbackUdQpTest.SendInvalidAh':
    'UD SEND through an address handle with a broken handle number: either SUCCESS at both ends with the data, or LOC_QP_OP_ERR and nothing arrives.',
  'LoopbackUdQpTest.SendInvalidQpn':
    'UD SEND to QPN 0xDEADBEEF: sender SUCCESS, receiver no completion and buffer unchanged; its receive still works.',
  'LoopbackUdQpTest.SendInvalidQKey':
    'UD SEND with a wrong Q_Key (top bit clear): sender SUCCESS (or GENERAL_ERR), receiver no completion and buffer unchanged; its receive still works.',
  'LoopbackUdQpTest.Read': 'RDMA READ on a UD QP posts and completes LOC_QP_OP_ERR.',
  'LoopbackUdQpTest.PollMultipleCqe':
    'Five UD SENDs: five receives SUCCESS/RECV; poll_cq with room for six returns the five send completions, the last SUCCESS/SEND.',
  'LoopbackUdQpTest.Write':
    'RDMA WRITE on a UD QP posts and completes LOC_QP_OP_ERR; with a fresh sending QP the receiver still works.',
  'LoopbackUdQpTest.FetchAdd':
    'FETCH_ADD on a UD QP posts and completes LOC_QP_OP_ERR; with a fresh sending QP the receiver still works.',
  'LoopbackUdQpTest.CompareSwap':
    'CMP_SWAP on a UD QP posts and completes LOC_QP_OP_ERR; with a fresh sending QP the receiver still works.',
  'LoopbackUdQpTest.MultiThreadedAhLifecycle':
    '128 threads with a PD each create and destroy 128 address handles, 64 times over (4 by 4 by 4 on a slow device): every create succeeds.',
  'AdvancedLoopbackTest.RcSendToUd':
    'SEND from an RC QP connected to the number of a UD QP (timeout about 1 s) completes RETRY_EXC_ERR; the UD receive does not complete.',
  'AdvancedLoopbackTest.UdSendToRc':
    'UD SEND to the number of an RC QP completes SUCCESS at the sender; the RC receive does not complete.',
});
