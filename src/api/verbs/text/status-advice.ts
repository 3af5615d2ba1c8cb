import { WcStatus } from '../../../device/ibta/index.js';
import type { WorkCompletion } from '../work-completion.js';
import { wcOpcodeStr, wcStatusStr } from './strings.js';

/** The fields of a completion that say what happened. */
export type Explainable = Pick<WorkCompletion, 'status' | 'opcode' | 'vendorErr' | 'byteLen' | 'detail' | 'peer'>;

/** What the status of a completion says on any device. Only the provider knows what `vendorErr` means. */
export function explainStatus({ status, opcode, byteLen, vendorErr }: Explainable): string {
  if (status === WcStatus.SUCCESS) return `success: ${wcOpcodeStr(opcode)} of ${byteLen} bytes`;
  const text = `${wcStatusStr(status)} (status ${status}, vendor error ${vendorErr})`;
  // A number without meaning can come from another maker's adapter.
  return Object.hasOwn(statusAdvice, status) ? `${text}; ${statusAdvice[status]}` : text;
}

const RELIABLE_DATAGRAM = 'no adapter that is made today has reliable datagrams, which alone can fail so';
const TAG_MATCHING = 'only shared receive queues with tag matching can fail so';

/** What to look at when nothing but the status is known, as on adapters of other makers (protocol/reliable.md 2.10). */
export const statusAdvice: Readonly<Record<Exclude<WcStatus, typeof WcStatus.SUCCESS>, string>> = {
  [WcStatus.LOC_LEN_ERR]:
    'is the message longer than the receive request, than the port allows, or than a datagram can be?',
  [WcStatus.LOC_QP_OP_ERR]: 'is the request one that this QP can carry out?',
  [WcStatus.LOC_EEC_OP_ERR]: RELIABLE_DATAGRAM,
  [WcStatus.LOC_PROT_ERR]: 'are lkey, range, protection domain and LOCAL_WRITE of every piece right?',
  [WcStatus.WR_FLUSH_ERR]: 'the QP was in error already; the first completion in error says why',
  [WcStatus.MW_BIND_ERR]:
    'does the region have MW_BIND, and LOCAL_WRITE where peers may write? is the range inside it, and a type 2 window free?',
  [WcStatus.BAD_RESP_ERR]: 'the peer answered something else than was asked',
  [WcStatus.LOC_ACCESS_ERR]: 'the peer wrote where it may not',
  [WcStatus.REM_INV_REQ_ERR]: "is the peer's receive request long enough, and does its QP allow the operation?",
  [WcStatus.REM_ACCESS_ERR]: 'are rkey, range and access flags at the peer right?',
  [WcStatus.REM_OP_ERR]: "the peer's completions say why",
  [WcStatus.RETRY_EXC_ERR]: "is the peer alive, and its QP in RTR with our QP's number?",
  [WcStatus.RNR_RETRY_EXC_ERR]: 'does the peer post receive requests in time?',
  [WcStatus.LOC_RDD_VIOL_ERR]: RELIABLE_DATAGRAM,
  [WcStatus.REM_INV_RD_REQ_ERR]: RELIABLE_DATAGRAM,
  [WcStatus.REM_ABORT_ERR]: 'the peer gave the operation up; its completions say why',
  [WcStatus.INV_EECN_ERR]: RELIABLE_DATAGRAM,
  [WcStatus.INV_EEC_STATE_ERR]: RELIABLE_DATAGRAM,
  [WcStatus.FATAL_ERR]: 'the device failed, and the context can only be closed',
  [WcStatus.RESP_TIMEOUT_ERR]: 'the peer took too long to answer; is it alive?',
  [WcStatus.GENERAL_ERR]: "the device's own log may say more",
  [WcStatus.TM_ERR]: TAG_MATCHING,
  [WcStatus.TM_RNDV_INCOMPLETE]: TAG_MATCHING,
};
