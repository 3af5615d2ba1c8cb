import { recvQueueShape, sendQueueShape } from '../../nic/index.js';
import { ipFromGid, type QpCap, QpState, type QpType, WrOpcode } from '../../spec/index.js';
import {
  type Address,
  capProblem,
  completeQpAttr,
  completeQpCap,
  invalid,
  modifyProblem,
  PostError,
  type Qp,
  type QpInitAttr,
  type QpModifyAttr,
  type QpQuery,
  type RecvWr,
  refuse,
  Resource,
  type SendWr,
  type Sge,
  type WrId,
} from '../../verbs/index.js';
import { SoftCq } from './completion-queue.js';
import type { SoftContext } from './context.js';
import type { SoftPd } from './protection-domain.js';
import { RecvQueue } from './recv-queue.js';
import { SendBatch } from './send-batch.js';
import { SendQueue } from './send-queue.js';

/** Q_Keys with this bit are for privileged users (PROTOCOL.md 1.5). */
const CONTROLLED_QKEY = 0x80000000;

function isList<T extends object>(wr: T | readonly T[]): wr is readonly T[] {
  return Array.isArray(wr);
}

/** Sizes as granted: rings have a power of two of entries, and all of them may be used. */
function grantedCap(asked: QpCap): QpCap {
  const { maxSendWr, maxRecvWr, maxSendSge, maxRecvSge, maxInlineData } = asked;
  return {
    ...asked,
    maxSendWr: maxSendWr === 0 ? 0 : sendQueueShape(maxSendWr, maxSendSge, maxInlineData).entries,
    maxRecvWr: maxRecvWr === 0 ? 0 : recvQueueShape(maxRecvWr, maxRecvSge).entries,
  };
}

function ourCq(context: SoftContext, cq: unknown, which: string): SoftCq {
  if (cq instanceof SoftCq && cq.context === context && !cq.destroyed) return cq;
  const problem = invalid(`${which} is no living completion queue of this context`, 'Make one by createCq');
  refuse('ibv_create_qp', problem);
  throw new Error('unreachable');
}

/** A queue pair. */
export class SoftQp extends Resource implements Qp {
  readonly context: SoftContext;
  readonly qpNum: number;
  readonly qpType: QpType;
  readonly sendCq: SoftCq;
  readonly recvCq: SoftCq;
  readonly cap: QpCap;
  readonly qpContext: unknown;
  /** Address of the peer that it was connected to last. */
  peer: string | undefined;
  protected readonly label: string;

  readonly #sq: SendQueue;
  readonly #rq: RecvQueue;
  readonly #batch: SendBatch;
  readonly #sqSigAll: boolean;

  constructor(
    readonly pd: SoftPd,
    init: QpInitAttr,
  ) {
    const { context } = pd;
    const { limits } = context;
    const { qpType, sqSigAll = false, qpContext } = init;
    const asked = completeQpCap(init.cap);
    refuse('ibv_create_qp', capProblem(asked, limits, limits.maxInlineBytes));
    const sendCq = ourCq(context, init.sendCq, 'sendCq');
    const recvCq = ourCq(context, init.recvCq, 'recvCq');
    const cap = grantedCap(asked);
    const sq = new SendQueue(qpType, cap, limits.maxMessageBytes, (addr, length) => context.memoryAt(addr, length));
    const rq = new RecvQueue(qpType, cap);
    const { qpn } = context.command('ibv_create_qp', 'createQp', {
      type: qpType,
      pd: pd.handle,
      sendCq: sendCq.cqn,
      recvCq: recvCq.cqn,
      cap,
      sqSigAll,
      sq: sq.ring.memory,
      rq: rq.ring.memory,
    });
    super('ibv_destroy_qp', [pd, sendCq, recvCq]);
    this.context = context;
    this.qpNum = qpn;
    this.qpType = qpType;
    this.sendCq = sendCq;
    this.recvCq = recvCq;
    this.cap = cap;
    this.qpContext = qpContext;
    this.label = `QP 0x${qpn.toString(16)}`;
    this.#sq = sq;
    this.#rq = rq;
    this.#batch = new SendBatch(qpType, sq);
    this.#sqSigAll = sqSigAll;
    context.pairs.set(qpn, this);
  }

  get state(): QpState {
    return this.#sq.ring.state;
  }

  modify(init: QpModifyAttr): void {
    this.assertAlive('ibv_modify_qp');
    const attr = completeQpAttr(init);
    refuse('ibv_modify_qp', modifyProblem(attr));
    if (attr.qkey !== undefined && attr.qkey >= CONTROLLED_QKEY) {
      const message = `Q_Key 0x${attr.qkey.toString(16)} is a controlled one: its top bit is set`;
      refuse('ibv_modify_qp', { errno: 'EPERM', message, advice: 'Choose one below 0x80000000' });
    }
    this.context.command('ibv_modify_qp', 'modifyQp', { qpn: this.qpNum, attr });
    if (attr.ahAttr?.grh !== undefined) this.peer = ipFromGid(attr.ahAttr.grh.dgid);
  }

  query(): QpQuery {
    this.assertAlive('ibv_query_qp');
    const attr = this.context.command('ibv_query_qp', 'queryQp', this.qpNum);
    const { qpType, sendCq, recvCq, cap, qpContext } = this;
    return { attr, initAttr: { qpType, sendCq, recvCq, cap, sqSigAll: this.#sqSigAll, qpContext } };
  }

  postSend(wr: SendWr | readonly SendWr[]): void {
    this.assertAlive('ibv_post_send');
    const wrs = isList(wr) ? wr : [wr];
    if (this.#batch.open && wrs.length > 0)
      throw new PostError('ibv_post_send', invalid('a batch is open', 'Call wrComplete or wrAbort first'), wrs[0], 0);
    try {
      this.#sq.post(wrs);
    } finally {
      this.#ring();
    }
  }

  postRecv(wr: RecvWr | readonly RecvWr[]): void {
    this.assertAlive('ibv_post_recv');
    try {
      this.#rq.post(isList(wr) ? wr : [wr]);
    } finally {
      this.#ringForReceives();
    }
  }

  postRecvSge(wrId: WrId, lkey: number, addr: Address, length: number): void {
    this.assertAlive('ibv_post_recv');
    this.#rq.postSge(wrId, lkey, addr, length);
    this.#ringForReceives();
  }

  wrStart(): void {
    this.assertAlive('ibv_wr_start');
    this.#batch.start();
  }

  set wrId(wrId: WrId) {
    this.#batch.setWrId(wrId);
  }

  set wrFlags(sendFlags: number) {
    this.#batch.setFlags(sendFlags);
  }

  wrSend(): void {
    this.#batch.send();
  }

  wrSendImm(immData: number): void {
    this.#batch.sendWith(WrOpcode.SEND_WITH_IMM, immData);
  }

  wrSendInv(invalidateRkey: number): void {
    this.#batch.sendWith(WrOpcode.SEND_WITH_INV, invalidateRkey);
  }

  wrRdmaWrite(rkey: number, remoteAddr: Address): void {
    this.#batch.rdma(WrOpcode.RDMA_WRITE, rkey, remoteAddr);
  }

  wrRdmaWriteImm(rkey: number, remoteAddr: Address, immData: number): void {
    this.#batch.writeImm(rkey, remoteAddr, immData);
  }

  wrRdmaRead(rkey: number, remoteAddr: Address): void {
    this.#batch.rdma(WrOpcode.RDMA_READ, rkey, remoteAddr);
  }

  wrAtomicCmpSwp(rkey: number, remoteAddr: Address, compare: Address, swap: Address): void {
    this.#batch.compareAndSwap(rkey, remoteAddr, compare, swap);
  }

  wrAtomicFetchAdd(rkey: number, remoteAddr: Address, add: Address): void {
    this.#batch.fetchAndAdd(rkey, remoteAddr, add);
  }

  wrSetSge(lkey: number, addr: Address, length: number): void {
    this.#batch.setSge(lkey, addr, length);
  }

  wrSetSgeList(sgList: readonly Sge[]): void {
    this.#batch.setSgeList(sgList);
  }

  wrSetInlineData(bytes: Uint8Array): void {
    this.#batch.setInlineData(bytes);
  }

  wrComplete(): void {
    this.assertAlive('ibv_wr_complete');
    if (this.#batch.complete()) this.#ring();
  }

  wrAbort(): void {
    this.assertAlive('ibv_wr_abort');
    this.#batch.abort();
  }

  destroy(): void {
    this.end();
  }

  protected release(): void {
    this.context.endCommand('ibv_destroy_qp', 'destroyQp', this.qpNum);
    this.context.pairs.delete(this.qpNum);
  }

  #ring(): void {
    if (this.#sq.ring.claimDoorbell()) this.context.doorbell.ring(this.qpNum);
  }

  /** Receives are found when a message comes; but in ERR none comes, and they must be flushed. */
  #ringForReceives(): void {
    if (this.#rq.ring.state === QpState.ERR) this.#ring();
  }
}
