import { type CmId, type Cq, type Pd, type Qp, QpState, QpType } from '../../../entry/index.js';
import { leave } from '../common/hosting.js';

const SEND_DEPTH = 16;
const RECV_DEPTH = 2;

/** Completions that may be there at once. */
export const CQ_DEPTH = SEND_DEPTH + RECV_DEPTH;

/** The parameters that both sides name; for a queue pair of their own also its number. */
export function connParam(
  qp: Qp,
  own: boolean,
): {
  readonly responderResources: number;
  readonly initiatorDepth: number;
  readonly retryCount: number;
  readonly rnrRetryCount: number;
  readonly qpNum?: number;
} {
  const common = { responderResources: 1, initiatorDepth: 1, retryCount: 7, rnrRetryCount: 7 };
  return own ? { ...common, qpNum: qp.qpNum } : common;
}

/** Makes the queue pair of a connection: by rdma_cm, or (`own`) by verbs, in INIT. */
export function createQp(id: CmId, pd: Pd, cq: Cq, own: boolean): Qp {
  const init = {
    qpType: QpType.RC,
    sendCq: cq,
    recvCq: cq,
    cap: { maxSendWr: SEND_DEPTH, maxRecvWr: RECV_DEPTH, maxSendSge: 1, maxRecvSge: 1 },
  };
  if (!own) return id.createQp(pd, init);
  const qp = pd.createQp(init);
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: id.portNum, qpAccessFlags: 0 });
  return qp;
}

/** Moves a queue pair of our own to RTS, by the attributes that the connection manager names. */
export function bringUp(id: CmId, qp: Qp): void {
  for (const state of [QpState.INIT, QpState.RTR, QpState.RTS]) {
    qp.modify(id.initQpAttr(state));
  }
}

/** Leaves the connection: what is posted is flushed, and the peer is told. */
export function disconnect(id: CmId, qp: Qp, own: boolean): void {
  if (own) qp.modify({ qpState: QpState.ERR });
  leave(id);
}

export function destroyQp(id: CmId, qp: Qp, own: boolean): void {
  if (own) qp.destroy();
  else id.destroyQp();
}
