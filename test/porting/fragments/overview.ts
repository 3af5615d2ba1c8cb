/** "RDMA-Aware Programming Overview": the ten steps of a typical application. */
import {
  AccessFlags,
  alloc,
  getDeviceList,
  QpState,
  QpType,
  SendFlags,
  WcStatus,
  WrOpcode,
} from '../../../src/entry/index.js';

export function typicalApplication(): string {
  // 1. and 2. The list of devices, and opening one by its name or GUID.
  const device = getDeviceList().find(({ name }) => name === 'verbena0');
  if (device === undefined) throw new Error('no such device');
  using context = device.open();
  // 3. What it can do.
  const { maxQpWr } = context.queryDevice();
  const { activeMtu } = context.queryPort(1);
  // 4. Protection domain, 5. memory region, 6. completion queue, 7. queue pair.
  using pd = context.allocPd();
  using mr = pd.regMr(alloc(4096), AccessFlags.LOCAL_WRITE);
  using cq = context.createCq({ cqe: 16 });
  using qp = pd.createQp({
    qpType: QpType.RC,
    sendCq: cq,
    recvCq: cq,
    cap: { maxSendWr: Math.min(16, maxQpWr), maxRecvWr: 16 },
  });
  // 8. INIT, RTR, RTS. The peer of this one is itself.
  const ahAttr = { grh: { dgid: context.queryGid(1, 0) } };
  qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: 0 });
  qp.modify({
    qpState: QpState.RTR,
    ahAttr,
    destQpNum: qp.qpNum,
    rqPsn: 0,
    pathMtu: activeMtu,
    maxDestRdAtomic: 1,
    minRnrTimer: 12,
  });
  qp.modify({ qpState: QpState.RTS, sqPsn: 0, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 1 });
  // 9. Requests, and polling for their completions.
  mr.bytes.set(Buffer.from('hello'));
  qp.postRecv({ wrId: 1, sgList: [mr.sge(2048)] });
  qp.postSend({ wrId: 2, opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [mr.sge(0, 5)] });
  for (let ended = 0; ended < 2;) {
    for (const wc of cq.poll()) {
      if (wc.status !== WcStatus.SUCCESS) throw new Error(context.explain(wc));
      ended += 1;
    }
  }
  return Buffer.from(mr.bytes).toString('utf8', 2048, 2053);
  // 10. `using` ends all of it, last made first.
}
