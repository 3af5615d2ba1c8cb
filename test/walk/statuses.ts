import { nameOf, QpState, QpType, WcOpcode, WcStatus, WrOpcode } from '../../src/entry/index.js';
import { isReliable, LOCALS, mayBeMalformed, mayEndPeer, SENDS, TAKES } from './judge.js';
import type { QpRecord, RecvRecord, SendRecord } from './things.js';

/** Why a request cannot have ended so, or undefined when it can: protocol/reliable.md 2.10, row by row. */
export function sendObjection(request: SendRecord, status: WcStatus, tookInOrder: boolean): string | undefined {
  const { qp, wild, troubled } = request;
  const reliable = isReliable(qp.type);
  const local = LOCALS.has(request.opcode);
  switch (status) {
    case WcStatus.SUCCESS:
      if (!request.couldLocal) return 'its own memory was never good for it';
      if (mayBeMalformed(request) && qp.type !== QpType.UD) return 'it cannot be sent at all';
      if (!reliable || local || wild) return undefined;
      if (!request.paired) return 'there never was a peer for it';
      if (needsKey(request) && !request.couldRemote) return 'its key never opened what it names';
      if (TAKES.has(request.opcode) && !request.couldRecv) return 'there never was a receive request for it';
      return undefined;
    case WcStatus.WR_FLUSH_ERR:
      if (qp.seenState === QpState.ERR || qp.seenState === QpState.SQE || !tookInOrder) return undefined;
      if (request.tooLate) return undefined;
      // Who reads seldom reads of it when the QP goes on already.
      if (request.life.sendsFailed && (qp.host.lazy || qp.host.onlySolicited)) return undefined;
      return qp.formerState === QpState.SQE ? undefined : `its QP is in ${nameOf(QpState, qp.seenState)}`;
    case WcStatus.LOC_PROT_ERR:
      return request.couldNotLocal && !local ? undefined : 'its own memory was always good for it';
    case WcStatus.MW_BIND_ERR:
      return local && request.couldNotLocal ? undefined : 'nothing was against it';
    case WcStatus.LOC_QP_OP_ERR:
    case WcStatus.LOC_LEN_ERR:
      return mayBeMalformed(request) ? undefined : 'it is as it has to be';
    default:
      break;
  }
  if (!reliable || local) return 'no peer is asked about it';
  if (wild) return undefined;
  switch (status) {
    case WcStatus.REM_ACCESS_ERR:
      return request.couldNotRemote ? undefined : 'its key opened what it names, all the time';
    case WcStatus.REM_INV_REQ_ERR:
      return request.couldNotQp || request.smallRecv ? undefined : 'the peer was ready for it, all the time';
    case WcStatus.REM_OP_ERR:
      return request.badRecv ? undefined : 'the memory of receive requests was good, all the time';
    case WcStatus.RETRY_EXC_ERR:
      return troubled ? undefined : 'the peer was there and no packet can have been lost';
    case WcStatus.RNR_RETRY_EXC_ERR:
      return request.noRecv && request.life.rnrRetry < 7 ? undefined : 'there were receive requests enough';
    default:
      return 'there is no reason for that';
  }
}

function needsKey({ remote, opcode }: SendRecord): boolean {
  if (opcode === WrOpcode.SEND_WITH_INV || opcode === WrOpcode.FLUSH) return true;
  return remote !== undefined && remote.lengthBytes > 0;
}

/** The same for a receive request. */
export function recvObjection(qp: QpRecord, recv: RecvRecord, status: WcStatus): string | undefined {
  const { inbound } = qp.life;
  switch (status) {
    case WcStatus.SUCCESS:
      return undefined;
    case WcStatus.WR_FLUSH_ERR:
      return qp.seenState === QpState.ERR ? undefined : `its QP is in ${nameOf(QpState, qp.seenState)}`;
    case WcStatus.LOC_PROT_ERR:
      return recv.couldNot ? undefined : 'its memory was always good';
    case WcStatus.LOC_LEN_ERR:
      return inbound.some((request) => SENDS.has(request.opcode) && request.lengthBytes > recv.capacity)
        ? undefined
        : 'no message is too long for it';
    case WcStatus.REM_INV_REQ_ERR:
    case WcStatus.LOC_ACCESS_ERR:
      return inbound.some(mayEndPeer) ? undefined : 'all that came was right';
    default:
      return 'there is no reason for that';
  }
}

export const completionOpcodes: Readonly<Record<number, WcOpcode>> = {
  [WrOpcode.SEND]: WcOpcode.SEND,
  [WrOpcode.SEND_WITH_IMM]: WcOpcode.SEND,
  [WrOpcode.SEND_WITH_INV]: WcOpcode.SEND,
  [WrOpcode.RDMA_WRITE]: WcOpcode.RDMA_WRITE,
  [WrOpcode.RDMA_WRITE_WITH_IMM]: WcOpcode.RDMA_WRITE,
  [WrOpcode.RDMA_READ]: WcOpcode.RDMA_READ,
  [WrOpcode.ATOMIC_CMP_AND_SWP]: WcOpcode.COMP_SWAP,
  [WrOpcode.ATOMIC_FETCH_AND_ADD]: WcOpcode.FETCH_ADD,
  [WrOpcode.LOCAL_INV]: WcOpcode.LOCAL_INV,
  [WrOpcode.BIND_MW]: WcOpcode.BIND_MW,
  [WrOpcode.FLUSH]: WcOpcode.FLUSH,
  [WrOpcode.ATOMIC_WRITE]: WcOpcode.ATOMIC_WRITE,
};

const FLAGS = [
  ...(['couldLocal', 'couldNotLocal', 'couldRemote', 'couldNotRemote', 'couldNotQp', 'couldRecv', 'noRecv'] as const),
  ...(['smallRecv', 'badRecv', 'paired', 'wild', 'troubled', 'moved', 'executed'] as const),
];

export function describeRequest(request: SendRecord): string {
  const { wrId, opcode, lengthBytes, qp, remote } = request;
  const said = FLAGS.filter((flag) => request[flag]).join(' ');
  const key = remote === undefined ? '' : ` with key 0x${remote.rkey.toString(16)}`;
  return `request ${wrId}, ${nameOf(WrOpcode, opcode)} of ${lengthBytes} bytes${key} by ${qp.name} (${said})`;
}
