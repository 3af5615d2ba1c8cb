import { AccessFlags, QpState } from '../../../device/ibta/index.js';
import type { CmId } from '../../../api/rdmacm/index.js';
import type { Qp } from '../../../api/verbs/index.js';
import type { Engine } from '../../core/index.js';
import type { Path } from './link.js';

// What transports have in common whose messages go beside the connection.

/** Makes the queue pair of the connection, on which nothing goes: it tells when the peer goes. */
export function createSilentQp(engine: Engine, id: CmId): void {
  const cap = { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 };
  id.createQp(engine.pd, { sendCq: engine.cq, recvCq: engine.cq, cap });
}

/** The other end of an unreliable connection. */
export interface Peer {
  readonly qpn: number;
  /** Which PSN it sends first. */
  readonly psn: number;
}

/** Connects a new queue pair for an unreliable connection along a path; it sends PSN 0 first. */
export function connectUc(qp: Qp, { ahAttr, pathMtu }: Path, { qpn, psn }: Peer): void {
  const qpAccessFlags = AccessFlags.REMOTE_WRITE;
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags });
  qp.modify({ qpState: QpState.RTR, ahAttr, pathMtu, destQpNum: qpn, rqPsn: psn });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
}
