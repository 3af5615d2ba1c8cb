// Lab A: two queue pairs in one program, and a message each way between them. lab-a.md goes through it part by part.
//
//   bin/verbena lab a
import {
  AccessFlags,
  type Cq,
  type Mr,
  type Qp,
  QpState,
  QpType,
  SendFlags,
  WcStatus,
  WrOpcode,
  alloc,
  formatGid,
  openDevice,
} from 'verbena';

const PORT = 1;
const ROUNDS = 3;
const MESSAGE_BYTES = 64;

// 1. Device, port, GID: who we are on the wire.
using context = openDevice();
const port = context.queryPort(PORT);
const gid = context.queryGid(PORT, 0);
console.log(`device ${context.device.name} at ${context.address}, GID ${formatGid(gid)}`);

// 2. Protection domain and completion queue: what everything else hangs on.
using pd = context.allocPd();
using cq = context.createCq({ cqe: 16 });

// 3. Memory regions: the only memory that the NIC may touch, one for each queue pair.
using mrA = pd.regMr(alloc(MESSAGE_BYTES), AccessFlags.LOCAL_WRITE);
using mrB = pd.regMr(alloc(MESSAGE_BYTES), AccessFlags.LOCAL_WRITE);

// 4. Queue pairs: they begin in RESET.
const init = { qpType: QpType.RC, sendCq: cq, recvCq: cq, cap: { maxSendWr: 4, maxRecvWr: 4 } };
using qpA = pd.createQp(init);
using qpB = pd.createQp(init);

/** RESET -> INIT -> RTR -> RTS: to RTR with what the peer will send, to RTS with what we will. */
function connect(qp: Qp, ownPsn: number, peer: Qp, peerPsn: number): void {
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: PORT, qpAccessFlags: 0 });
  qp.modify({
    qpState: QpState.RTR,
    ahAttr: { grh: { dgid: gid } },
    destQpNum: peer.qpNum,
    rqPsn: peerPsn,
    pathMtu: port.activeMtu,
    maxDestRdAtomic: 1,
    minRnrTimer: 12,
  });
  qp.modify({ qpState: QpState.RTS, sqPsn: ownPsn, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 });
}

// 5. Connect each to the other. No sockets: both ends are here, so each can be told of the other at once.
connect(qpA, 0x0a0000, qpB, 0x0b0000);
connect(qpB, 0x0b0000, qpA, 0x0a0000);
for (const [name, qp] of [['A', qpA] as const, ['B', qpB] as const]) {
  console.log(`QP ${name}: number 0x${qp.qpNum.toString(16)}, state ${String(qp.state)} (RTS is ${QpState.RTS})`);
}

/** Waits until both requests of one message have ended: the SEND on one side, the RECV on the other. */
function awaitBoth(queue: Cq): number {
  let receivedBytes = 0;
  for (let ended = 0; ended < 2;) {
    for (const wc of queue.poll(2)) {
      if (wc.status !== WcStatus.SUCCESS) throw new Error(context.explain(wc));
      if (wc.wrId === RECV_ID) receivedBytes = wc.byteLen;
      ended += 1;
    }
  }
  return receivedBytes;
}

const SEND_ID = 1n;
const RECV_ID = 2n;

/** One message: the receiver makes room first, then the sender sends, then both see it completed. */
function say(text: string, from: Qp, fromMr: Mr, to: Qp, toMr: Mr): string {
  to.postRecv({ wrId: RECV_ID, sgList: [toMr.sge()] });
  const { written } = new TextEncoder().encodeInto(text, fromMr.bytes);
  from.postSend({
    wrId: SEND_ID,
    opcode: WrOpcode.SEND,
    sendFlags: SendFlags.SIGNALED,
    sgList: [fromMr.sge(0, written)],
  });
  const receivedBytes = awaitBoth(cq);
  return Buffer.from(toMr.bytes.subarray(0, receivedBytes)).toString();
}

// 6. Ping and pong.
for (let round = 1; round <= ROUNDS; round += 1) {
  console.log(`B received: ${say(`ping ${round}`, qpA, mrA, qpB, mrB)}`);
  console.log(`A received: ${say(`pong ${round}`, qpB, mrB, qpA, mrA)}`);
}

// 7. What the NIC counted. Then everything ends by itself, in the reverse order of its making: that is `using`.
const { sent_pkts: sent, rcvd_pkts: received } = context.counters();
console.log(`${sent} packets sent, ${received} received; VERBENA_PCAP=lab.pcapng records them`);
