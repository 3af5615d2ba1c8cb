/** "The Fundamentals of RDMA Programming", lessons 14 to 17. */
import {
  AccessFlags,
  alloc,
  type Context,
  type Cq,
  type Mr,
  type Pd,
  PostError,
  type Qp,
  type RemoteMemory,
  SendFlags,
  type Sge,
  WcFlags,
  WcStatus,
  WrOpcode,
} from '../../../src/entry/index.js';

export function registerMemory(pd: Pd): void {
  const buffer = alloc(4096); // or a SharedArrayBuffer; where nothing can take it away, any Buffer or ArrayBuffer
  const mr = pd.regMr(buffer, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ);
  console.log(`addr ${mr.addr}, length ${mr.length}, lkey ${mr.lkey}, rkey ${mr.rkey}`);
  mr.dereg();
}

export function postSends(qp: Qp, mr: Mr, peer: RemoteMemory): void {
  const sge: Sge = { addr: mr.addr, length: 64, lkey: mr.lkey }; // the same as mr.sge(0, 64)
  const eight = mr.sge(64, 8);
  const sendFlags = SendFlags.SIGNALED;
  qp.postSend([
    { wrId: 1, opcode: WrOpcode.SEND, sgList: [sge], sendFlags: sendFlags | SendFlags.SOLICITED },
    { wrId: 2, opcode: WrOpcode.SEND_WITH_IMM, sgList: [sge], immData: 0x1234, sendFlags },
    { wrId: 3, opcode: WrOpcode.RDMA_WRITE, sgList: [sge], rdma: peer, sendFlags },
    { wrId: 4, opcode: WrOpcode.RDMA_READ, sgList: [sge], rdma: peer, sendFlags },
    { wrId: 5, opcode: WrOpcode.ATOMIC_FETCH_AND_ADD, sgList: [eight], atomic: { ...peer, compareAdd: 1n }, sendFlags },
    {
      wrId: 6,
      opcode: WrOpcode.ATOMIC_CMP_AND_SWP,
      sgList: [eight],
      atomic: { ...peer, compareAdd: 1n, swap: 2n },
      sendFlags: sendFlags | SendFlags.FENCE,
    },
    // The bytes are taken at once, from memory that need not be registered.
    { wrId: 7, opcode: WrOpcode.SEND, sgList: [{ bytes: Buffer.from('hi') }], sendFlags: sendFlags | SendFlags.INLINE },
  ]);
}

export function postReceives(qp: Qp, mr: Mr): void {
  try {
    qp.postRecv([
      { wrId: 1, sgList: [mr.sge(0, 1024)] },
      { wrId: 2, sgList: [mr.sge(1024, 1024), mr.sge(3072, 1024)] },
    ]);
  } catch (error) {
    if (!(error instanceof PostError)) throw error;
    console.log(`request ${error.index} (wr_id ${error.badWr.wrId}): ${error.message}`);
  }
}

export function pollCompletions(context: Context, cq: Cq, expected: number): void {
  for (let ended = 0; ended < expected;) {
    for (const wc of cq.poll(16)) {
      ended += 1;
      switch (wc.status) {
        case WcStatus.SUCCESS:
          console.log(`${wc.wrId}: ${wc.byteLen} bytes on QP ${wc.qpNum}`);
          if ((wc.wcFlags & WcFlags.WITH_IMM) !== 0) console.log(`immediate data ${wc.immData}`);
          break;
        case WcStatus.WR_FLUSH_ERR:
          break; // the QP had failed before
        default:
          console.log(context.explain(wc)); // LOC_PROT_ERR, RETRY_EXC_ERR and so on, with the reason
      }
    }
  }
}
