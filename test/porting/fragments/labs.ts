/** Labs A to D: what two hosts tell each other, and how queue pairs are brought up with it. */
import {
  AccessFlags,
  type Context,
  type Cq,
  formatGid,
  gidFromIp,
  type Mr,
  type Mtu,
  type Pd,
  type Qp,
  QpState,
  QpType,
  SendFlags,
  WrOpcode,
} from '../../../src/entry/index.js';

/** `struct conn_info`. Addresses are bigints, which JSON does not know: they travel as text. */
export interface ConnInfo {
  gid: string;
  qpn: number;
  psn: number;
  mtu: Mtu;
  raddr: string;
  rkey: number;
}

export function createQueuePair(pd: Pd, cq: Cq): Qp {
  const qp = pd.createQp({
    qpType: QpType.RC,
    sendCq: cq,
    recvCq: cq,
    cap: { maxSendWr: 16, maxRecvWr: 16, maxInlineData: 64 },
  });
  qp.modify({
    qpState: QpState.INIT,
    pkeyIndex: 0,
    portNum: 1,
    qpAccessFlags: AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC,
  });
  return qp;
}

export function describeSelf(context: Context, qp: Qp, psn: number, mr: Mr): ConnInfo {
  return {
    gid: formatGid(context.queryGid(1, 0)),
    qpn: qp.qpNum,
    psn,
    mtu: context.queryPort().activeMtu,
    raddr: String(mr.addr),
    rkey: mr.rkey,
  };
}

export function connectQueuePair(qp: Qp, own: ConnInfo, peer: ConnInfo): void {
  qp.modify({
    qpState: QpState.RTR,
    ahAttr: { grh: { dgid: gidFromIp(peer.gid) } }, // is_global, port_num and hop_limit have defaults
    destQpNum: peer.qpn,
    rqPsn: peer.psn,
    pathMtu: own.mtu < peer.mtu ? own.mtu : peer.mtu,
    maxDestRdAtomic: 1,
    minRnrTimer: 12,
  });
  qp.modify({ qpState: QpState.RTS, sqPsn: own.psn, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 });
}

export function writeToPeer(qp: Qp, mr: Mr, peer: ConnInfo): void {
  qp.postSend({
    wrId: 1,
    opcode: WrOpcode.RDMA_WRITE, // or RDMA_READ
    sendFlags: SendFlags.SIGNALED,
    sgList: [mr.sge()],
    rdma: { remoteAddr: BigInt(peer.raddr), rkey: peer.rkey },
  });
}
