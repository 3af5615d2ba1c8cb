/** Notes on verbs, rsockets and HERD: UD with address handles, SRQs, and WRITE over UC answered over UD. */
import {
  AccessFlags,
  type Ah,
  type AhAttrInit,
  alloc,
  type CmId,
  type Context,
  type Cq,
  type Pd,
  type Qp,
  QpState,
  QpType,
  type RemoteMemory,
  SendFlags,
  type Sge,
  type Srq,
  WrOpcode,
} from '../../../src/entry/index.js';

export function sequenceOfCommands(context: Context, address: AhAttrInit): { ah: Ah; cq: Cq; srq: Srq; qp: Qp } {
  const pd = context.allocPd();
  const ah = pd.createAh(address); // UD: where datagrams go
  const cq = context.createCq({ cqe: 64 });
  const srq = pd.createSrq({ maxWr: 64 });
  const qp = pd.createQp({ qpType: QpType.UD, sendCq: cq, recvCq: cq, srq, cap: { maxSendWr: 16 } });
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: 0x11111111 });
  qp.modify({ qpState: QpState.RTR });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
  const mr = pd.regMr(alloc(4096), AccessFlags.LOCAL_WRITE);
  srq.postRecv({ wrId: 1, sgList: [mr.sge(0, 2048)] }); // the first 40 bytes receive the IP header
  const ud = { ah, remoteQpn: qp.qpNum, remoteQkey: 0x11111111 };
  qp.postSend({ wrId: 2, opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [mr.sge(2048, 64)], ud });
  return { ah, cq, srq, qp };
}

export function postByIdentifier(id: CmId, piece: Sge, { remoteAddr, rkey }: RemoteMemory): void {
  id.postSendv(1, [piece], SendFlags.SIGNALED);
  id.postWritev(2, [piece], SendFlags.SIGNALED, remoteAddr, rkey);
  id.postReadv(3, [piece], SendFlags.SIGNALED, remoteAddr, rkey);
}

export function postDatagram(id: CmId, piece: Sge, ah: Ah, remoteQpn: number): void {
  id.postUdSend(4, piece, SendFlags.SIGNALED, ah, remoteQpn); // with the Q_Key RDMA_UDP_QKEY
}

export function connectUnreliably(qp: Qp, peer: Qp, address: AhAttrInit): void {
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: AccessFlags.REMOTE_WRITE });
  // UC has no timers, retries or READs, and so none of their attributes.
  qp.modify({ qpState: QpState.RTR, ahAttr: address, destQpNum: peer.qpNum, rqPsn: 0, pathMtu: 3 });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
}

/** HERD's client: the request is a WRITE over UC, unsignalled and inline; the reply a datagram that finds a RECV. */
export function requestByWrite(uc: Qp, slot: RemoteMemory, request: Uint8Array): void {
  uc.postSend({ opcode: WrOpcode.RDMA_WRITE, sendFlags: SendFlags.INLINE, sgList: [{ bytes: request }], rdma: slot });
}

/** HERD's server: it polls its memory, not a queue, and answers over UD. */
export function replyBySend(ud: Qp, ah: Ah, client: { qpn: number; qkey: number }, reply: Uint8Array): void {
  ud.postSend({
    opcode: WrOpcode.SEND,
    sendFlags: SendFlags.INLINE | SendFlags.SIGNALED,
    sgList: [{ bytes: reply }],
    ud: { ah, remoteQpn: client.qpn, remoteQkey: client.qkey },
  });
}

export function createDatagramQp(pd: Pd, cq: Cq): Qp {
  const qp = pd.createQp({
    qpType: QpType.UD,
    sendCq: cq,
    recvCq: cq,
    cap: { maxSendWr: 16, maxRecvWr: 16, maxInlineData: 64 },
  });
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qkey: 0x11111111 });
  qp.modify({ qpState: QpState.RTR });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0 });
  return qp;
}
