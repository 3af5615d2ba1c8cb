/** "RDMA Programming": a connection, queues with a completion channel, requests, events, and the end. */
import {
  AccessFlags,
  alloc,
  cmEventStr,
  CmEventType,
  type CmId,
  type CompChannel,
  type Context,
  type Cq,
  createId,
  type EventChannel,
  type Mr,
  type Pd,
  PortSpace,
  type Qp,
  QpType,
  SendFlags,
  WcStatus,
  type WorkCompletion,
  WrOpcode,
} from '../../../src/entry/index.js';

export async function connectTo(channel: EventChannel, host: string, port: number): Promise<CmId> {
  const id = createId(channel, PortSpace.TCP);
  id.resolveAddr({ host, port }, { timeoutMs: 2000 });
  for await (const event of channel) {
    event.ack();
    if (event.event === CmEventType.ADDR_RESOLVED) {
      id.createQp(); // completion queues are made, and a domain is there
      id.resolveRoute(2000);
    } else if (event.event === CmEventType.ROUTE_RESOLVED) {
      id.connect({ responderResources: 1, initiatorDepth: 1, retryCount: 7, rnrRetryCount: 7 });
    } else if (event.event === CmEventType.ESTABLISHED) {
      break;
    } else {
      throw new Error(`${cmEventStr(event.event)}, status ${event.status}`);
    }
  }
  return id;
}

export function createQueues(context: Context): { pd: Pd; channel: CompChannel; cq: Cq; qp: Qp } {
  const pd = context.allocPd();
  const channel = context.createCompChannel();
  const cq = context.createCq({ cqe: 64, channel, cqContext: 'anything', compVector: 0 });
  cq.reqNotify();
  const qp = pd.createQp({
    qpType: QpType.RC,
    sendCq: cq,
    recvCq: cq,
    cap: { maxSendWr: 16, maxRecvWr: 16, maxSendSge: 1, maxRecvSge: 1 },
  });
  return { pd, channel, cq, qp };
}

export function sendAndReceive(pd: Pd, qp: Qp): Mr {
  const mr = pd.regMr(alloc(4096), AccessFlags.LOCAL_WRITE);
  const sge = mr.sge(); // { addr: mr.addr, length: mr.length, lkey: mr.lkey }
  qp.postRecv({ wrId: 7, sgList: [sge] });
  qp.postSend({ opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [sge] });
  return mr;
}

export async function awaitCompletions(channel: CompChannel, take: (wc: WorkCompletion) => boolean): Promise<void> {
  for await (const cq of channel) {
    cq.ackEvents(1);
    cq.reqNotify(); // before polling, so that nothing is missed
    for (let wcs = cq.poll(); wcs.length > 0; wcs = cq.poll()) {
      for (const wc of wcs) {
        if (wc.status !== WcStatus.SUCCESS) throw new Error(cq.context.explain(wc));
        if (take(wc)) return; // wc.wrId says which request it was
      }
    }
  }
}

export function writeAt(qp: Qp, mr: Mr, remoteBase: bigint, offset: number, rkey: number): void {
  qp.postSend({
    opcode: WrOpcode.RDMA_WRITE,
    sendFlags: SendFlags.SIGNALED,
    sgList: [mr.sge()],
    rdma: { remoteAddr: remoteBase + BigInt(offset), rkey },
  });
}

export function cleanUp(qp: Qp, cq: Cq, channel: CompChannel, mr: Mr, pd: Pd): void {
  qp.destroy();
  cq.destroy();
  channel.destroy();
  mr.dereg();
  pd.dealloc();
}
