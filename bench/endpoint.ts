/** One end of a measured connection: a device, a region, a queue pair, and the spinning loops over them. */
import {
  AccessFlags,
  alloc,
  type Context,
  type Cq,
  gidFromIp,
  type HostKind,
  type Mr,
  Mtu,
  openDevice,
  type Qp,
  QpState,
  QpType,
  SendFlags,
  WcStatus,
  wcStatusStr,
} from '../src/index.js';

/** What the two ends tell each other, as plain data. */
export interface EndpointInfo {
  readonly address: string;
  readonly qpNum: number;
  readonly addr: string;
  readonly rkey: number;
}

const ALL_ACCESS =
  AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
const DEPTH = 256;

/** Asserts that the completion a fast poll stands on is a good one. */
function expectSuccess(context: Context, cq: Cq): void {
  if (cq.status === WcStatus.SUCCESS) return;
  throw new Error(`${wcStatusStr(cq.status)}: ${context.explain(cq.workCompletion())}`);
}

/** A device with one region and one RC queue pair. */
export class Endpoint implements Disposable {
  readonly context: Context;
  readonly mr: Mr;
  readonly cq: Cq;
  readonly qp: Qp;
  #peerAddr = 0;
  #peerRkey = 0;

  constructor(host: HostKind, address: string, bytes: number) {
    this.context = openDevice({ host, address });
    const pd = this.context.allocPd();
    this.mr = pd.regMr(alloc(bytes), ALL_ACCESS);
    this.cq = this.context.createCq({ cqe: 2 * DEPTH });
    this.qp = pd.createQp({
      qpType: QpType.RC,
      sendCq: this.cq,
      recvCq: this.cq,
      cap: { maxSendWr: DEPTH, maxRecvWr: DEPTH, maxInlineData: 64 },
    });
  }

  get info(): EndpointInfo {
    const { context, qp, mr } = this;
    return { address: context.address, qpNum: qp.qpNum, addr: String(mr.addr), rkey: mr.rkey };
  }

  connect(peer: EndpointInfo): void {
    const { qp } = this;
    qp.modify({ qpState: QpState.INIT, pkeyIndex: 0, portNum: 1, qpAccessFlags: ALL_ACCESS });
    qp.modify({
      qpState: QpState.RTR,
      pathMtu: Mtu.MTU_4096,
      destQpNum: peer.qpNum,
      rqPsn: 0,
      maxDestRdAtomic: 16,
      minRnrTimer: 1,
      ahAttr: { grh: { dgid: gidFromIp(peer.address) } },
    });
    qp.modify({ qpState: QpState.RTS, timeout: 14, retryCnt: 7, rnrRetry: 7, sqPsn: 0, maxRdAtomic: 16 });
    this.#peerAddr = Number(peer.addr);
    this.#peerRkey = peer.rkey;
  }

  /** Round trips of SENDs, answering first when `answer`. @returns µs of each of `stretches` parts, a round trip */
  pingPong(answer: boolean, bytes: number, stretches: number, rounds: number): number[] {
    const { qp, mr } = this;
    const addr = Number(mr.addr);
    const inbox = addr + 64 * 1024;
    const figures: number[] = [];
    for (let i = 0; i < DEPTH / 2; i += 1) qp.postRecvSge(0, mr.lkey, inbox, bytes);
    for (let stretch = 0; stretch < stretches; stretch += 1) {
      const begun = performance.now();
      for (let round = 0; round < rounds; round += 1) {
        if (!answer) this.#send(addr, bytes);
        this.#spin();
        qp.postRecvSge(0, mr.lkey, inbox, bytes);
        if (answer) this.#send(addr, bytes);
      }
      figures.push(((performance.now() - begun) * 1000) / rounds);
    }
    return figures;
  }

  /** Has `outstanding` WRITEs of `bytes` under way for `durationMs`. @returns WRITEs and ms of each stretch */
  writeStream(bytes: number, outstanding: number, stretches: number, stretchMs: number): number[] {
    const { qp, cq, context, mr } = this;
    const addr = Number(mr.addr);
    const figures: number[] = [];
    let posted = 0;
    let completed = 0;
    const post = (): void => {
      qp.wrStart();
      qp.wrFlags = SendFlags.SIGNALED;
      qp.wrRdmaWrite(this.#peerRkey, this.#peerAddr);
      qp.wrSetSge(mr.lkey, addr, bytes);
      qp.wrComplete();
      posted += 1;
    };
    for (let stretch = 0; stretch < stretches; stretch += 1) {
      const begun = performance.now();
      const before = completed;
      let now = begun;
      while (now - begun < stretchMs) {
        while (posted - completed < outstanding) post();
        if (!cq.startPoll()) continue;
        do {
          expectSuccess(context, cq);
          completed += 1;
        } while (cq.nextPoll());
        cq.endPoll();
        now = performance.now();
      }
      figures.push(((completed - before) * bytes) / (now - begun) / 1e6);
    }
    while (completed < posted) {
      this.#spin();
      completed += 1;
    }
    return figures;
  }

  /** WRITEs of 8 bytes in lists of `listLength`, the last of each signalled. @returns 10^6 WRITEs a second */
  writeRate(listLength: number, stretches: number, stretchMs: number): number[] {
    const { qp, mr } = this;
    const addr = Number(mr.addr);
    const figures: number[] = [];
    let outstanding = 0;
    for (let stretch = 0; stretch < stretches; stretch += 1) {
      const begun = performance.now();
      let completed = 0;
      let now = begun;
      while (now - begun < stretchMs) {
        while (outstanding < 2) {
          qp.wrStart();
          for (let i = 0; i < listLength; i += 1) {
            qp.wrFlags = i === listLength - 1 ? SendFlags.SIGNALED : 0;
            qp.wrRdmaWrite(this.#peerRkey, this.#peerAddr + 8 * i);
            qp.wrSetSge(mr.lkey, addr + 8 * i, 8);
          }
          qp.wrComplete();
          outstanding += 1;
        }
        this.#spin();
        outstanding -= 1;
        completed += listLength;
        now = performance.now();
      }
      figures.push(completed / (now - begun) / 1000);
    }
    while (outstanding > 0) {
      this.#spin();
      outstanding -= 1;
    }
    return figures;
  }

  /** Gives the device turns until something is completed. */
  serve(): void {
    this.cq.poll(1);
  }

  [Symbol.dispose](): void {
    this.context[Symbol.dispose]();
  }

  #send(addr: number, bytes: number): void {
    const { qp, mr } = this;
    qp.wrStart();
    qp.wrSend();
    qp.wrSetSge(mr.lkey, addr, bytes);
    qp.wrComplete();
  }

  /** Spins for one completion. */
  #spin(): void {
    const { cq } = this;
    while (!cq.startPoll());
    expectSuccess(this.context, cq);
    cq.endPoll();
  }
}
