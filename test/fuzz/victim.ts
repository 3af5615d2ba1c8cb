import { Mtu, type QpAttr, QpState, QpType, WrOpcode } from '../../src/device/ibta/index.js';
import type { Nic } from '../../src/device/nic/index.js';
import { completionQueueShape, recvQueueShape, sendQueueShape, WorkQueue } from '../../src/device/nic/rings/layout.js';
import { ahAttrTo } from '../../src/device/nic/test/qp.js';
import { type Doorbell, DriverCq, DriverQueue } from '../../src/device/nic/test/rings.js';
import type { FuzzMemory, FuzzRegion } from './memory.js';
import type { Choices } from './random.js';
import type { ListeningSink } from './sink.js';

const CAP = { maxSendWr: 8, maxRecvWr: 8, maxSendSge: 2, maxRecvSge: 2, maxInlineData: 64 };
const QKEY = 0x11111111;
export const VICTIM_MTU = Mtu.MTU_256;
const ALL_QP_ACCESS = 0x3 | 4 | 8 | 256 | 512;

/** What all queue pairs under fuzz share. */
export interface Ground {
  readonly nic: Nic;
  readonly sink: ListeningSink;
  readonly memory: FuzzMemory;
  readonly doorbell: Doorbell;
  readonly choices: Choices;
  readonly pds: readonly number[];
  readonly peerGid: Uint8Array;
  readonly xrcd: number;
  readonly srqn: number;
  readonly addressHandle: number;
}

/** One queue pair of the NIC under test, held in the state in which it is to be attacked. */
export class Victim {
  readonly qpn: number;
  readonly sendCq: DriverCq;
  readonly recvCq: DriverCq;
  readonly sq: DriverQueue;
  readonly rq: DriverQueue;
  readonly #region: FuzzRegion;

  constructor(
    private readonly ground: Ground,
    readonly type: QpType,
    readonly goal: QpState,
    /** Its peer's QPN. */
    readonly peer: number,
    pdIndex: number,
    srqn?: number,
  ) {
    const { nic, memory, choices } = ground;
    const { control } = nic;
    this.#region = memory.scratch(choices, pdIndex);
    this.sendCq = new DriverCq(completionQueueShape(64));
    this.recvCq = new DriverCq(completionQueueShape(64));
    this.sendCq.cqn = control.createCq({ entries: 64, memory: this.sendCq.memory });
    this.recvCq.cqn = control.createCq({ entries: 64, memory: this.recvCq.memory });
    this.sq = new DriverQueue(sendQueueShape(CAP.maxSendWr, CAP.maxSendSge, CAP.maxInlineData));
    this.rq = new DriverQueue(recvQueueShape(CAP.maxRecvWr, CAP.maxRecvSge));
    this.qpn = control.createQp({
      type,
      pd: type === QpType.XRC_RECV ? undefined : ground.pds[pdIndex],
      xrcd: type === QpType.XRC_RECV ? ground.xrcd : undefined,
      sendCq: this.sendCq.cqn,
      recvCq: this.recvCq.cqn,
      srq: srqn,
      cap: CAP,
      sqSigAll: true,
      sq: this.sq.memory,
      rq: this.rq.memory,
    }).qpn;
    this.usesSrq = srqn !== undefined;
    this.revive();
  }

  readonly usesSrq: boolean;

  get state(): QpState {
    // The NIC writes nothing else there (layout: WorkQueue.QP_STATE).
    return Atomics.load(this.sq.words, WorkQueue.QP_STATE) as QpState;
  }

  /** Whether completions or events can come of packets that it is sent. */
  get connected(): boolean {
    return this.type !== QpType.UD && this.type !== QpType.RAW_PACKET;
  }

  /** Brings it back to the state in which it is to be attacked, with requests posted. */
  revive(): void {
    const { ground, goal } = this;
    if (this.state !== QpState.RESET) this.#modify({ qpState: QpState.RESET });
    this.drain();
    if (goal === QpState.RESET) return;
    this.#modify(this.#initAttr());
    this.#postReceives();
    if (goal === QpState.INIT) return;
    const psn = ground.choices.below(0x1000000);
    ground.sink.expectedPsn[this.peer] = psn;
    this.#modify(this.#rtrAttr(psn));
    if (goal === QpState.RTR) return;
    const sqPsn = ground.choices.below(0x1000000);
    ground.sink.begin(this.peer, sqPsn);
    this.#modify(this.#rtsAttr(sqPsn));
    this.#postSends();
    if (goal === QpState.SQE) this.#spoilSendQueue();
    if (goal === QpState.SQD) this.#modify({ qpState: QpState.SQD });
    if (goal === QpState.ERR) this.#modify({ qpState: QpState.ERR });
  }

  /** Takes all completions. @returns how many there were */
  drain(): number {
    return this.sendCq.skip() + this.recvCq.skip();
  }

  /** Posts again what was used up. */
  refill(): void {
    if (this.goal === QpState.RESET || this.goal === QpState.ERR) return;
    this.#postReceives();
    if (this.state === QpState.RTS) this.#postSends();
  }

  /** A request with a key that opens nothing: its failure leads to SQE (protocol/reliable.md 2.10). */
  #spoilSendQueue(): void {
    const { nic, doorbell } = this.ground;
    nic.ringDoorbells();
    while (nic.transmit());
    this.drain();
    this.sq.writeSend({ opcode: WrOpcode.SEND, sgList: [{ addr: 0n, length: 8, lkey: 1 }], addressHandle: 1 });
    doorbell.ring(this.sq.words, this.qpn);
    nic.ringDoorbells();
    while (nic.transmit());
  }

  #modify(attr: Partial<QpAttr>): void {
    this.ground.nic.control.modifyQp(this.qpn, attr);
  }

  #initAttr(): Partial<QpAttr> {
    const base = { qpState: QpState.INIT, portNum: 1 };
    switch (this.type) {
      case QpType.UD:
        return { ...base, pkeyIndex: 0, qkey: QKEY };
      case QpType.RAW_PACKET:
        return base;
      default:
        return { ...base, pkeyIndex: 0, qpAccessFlags: ALL_QP_ACCESS };
    }
  }

  #rtrAttr(rqPsn: number): Partial<QpAttr> {
    const state = { qpState: QpState.RTR };
    if (!this.connected) return state;
    const way = {
      ...state,
      ahAttr: ahAttrTo(this.ground.peerGid),
      pathMtu: VICTIM_MTU,
      destQpNum: this.peer,
      rqPsn,
    };
    const reliable = this.type === QpType.RC || this.type === QpType.XRC_RECV;
    return reliable ? { ...way, maxDestRdAtomic: 4, minRnrTimer: 1 } : way;
  }

  #rtsAttr(sqPsn: number): Partial<QpAttr> {
    const state = { qpState: QpState.RTS };
    switch (this.type) {
      case QpType.RAW_PACKET:
        return state;
      case QpType.XRC_RECV:
        return { ...state, timeout: 14, sqPsn };
      case QpType.RC:
      case QpType.XRC_SEND:
        return { ...state, sqPsn, timeout: 14, retryCnt: 7, rnrRetry: 7, maxRdAtomic: 4 };
      default:
        return { ...state, sqPsn };
    }
  }

  #postReceives(): void {
    if (this.usesSrq) return;
    const { iova, bytes, lkey } = this.#region;
    while (this.rq.room > 0)
      this.rq.writeReceive({
        sgList: [{ addr: iova, length: this.ground.choices.of([0, 40, 300, bytes.length]), lkey }],
      });
  }

  #postSends(): void {
    if (this.type === QpType.XRC_RECV || this.type === QpType.RAW_PACKET) return;
    const { ground } = this;
    const { choices } = ground;
    const { iova, lkey } = this.#region;
    const reliable = this.type === QpType.RC || this.type === QpType.XRC_SEND;
    const opcodes =
      this.type === QpType.UD
        ? [WrOpcode.SEND, WrOpcode.SEND_WITH_IMM]
        : reliable
          ? [WrOpcode.SEND, WrOpcode.RDMA_WRITE, WrOpcode.RDMA_READ, WrOpcode.ATOMIC_FETCH_AND_ADD]
          : [WrOpcode.SEND, WrOpcode.RDMA_WRITE];
    while (this.sq.room > 0) {
      const opcode = choices.of(opcodes);
      const length =
        opcode === WrOpcode.ATOMIC_FETCH_AND_ADD ? 8 : this.type === QpType.UD ? 64 : choices.of([0, 8, 700]);
      this.sq.writeSend({
        opcode,
        sgList: [{ addr: iova, length, lkey }],
        rkey: 1,
        remoteAddr: 0x1000n,
        remoteQpn: this.type === QpType.UD ? this.peer : ground.srqn,
        remoteQkey: QKEY,
        addressHandle: ground.addressHandle,
      });
    }
    ground.doorbell.ring(this.sq.words, this.qpn);
  }
}
