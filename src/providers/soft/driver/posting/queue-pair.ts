import { type Gid, type QpCap, QpState, type QpType, WrOpcode } from '../../../../device/ibta/index.js';
import { recvQueueShape, sendQueueShape } from '../../../../device/nic/index.js';
import {
  type Address,
  capProblem,
  completeQpCap,
  hasOpcode,
  hasReceiveQueue,
  invalid,
  isList,
  type Mw,
  type MwBind,
  PostError,
  type Problem,
  type Qp,
  type QpInitAttr,
  qpInitProblem,
  type QpQuery,
  type QpRateLimit,
  rateLimitProblem,
  type RecvWr,
  refuse,
  sendOpsOf,
  type SendWr,
  VerbsError,
  type WrId,
} from '../../../../api/verbs/index.js';
import { SoftCq } from '../completions/completion-queue.js';
import type { OpenDevice, OwnPd } from '../context-base.js';
import { BuildingQp } from './building-qp.js';
import { DeviceQp } from './qp-base.js';
import { RecvQueue } from './recv-queue.js';
import { SendBatch } from './send-batch.js';
import { SendQueue } from './send-queue.js';
import { SoftSrq } from './shared-receive-queue.js';
import type { WorkRing } from './work-ring.js';

const CREATE = 'ibv_create_qp';
/** What an ATOMIC_WRITE of the builder needs in its entry. */
const ATOMIC_BYTES = 8;
const GID_BYTES = 16;

/** Sizes as granted: rings have a power of two of entries, and all of them may be used. */
function grantedCap(type: QpType, asked: QpCap): QpCap {
  const { maxSendWr, maxRecvWr, maxSendSge, maxRecvSge } = asked;
  const maxInlineData = hasOpcode(type, WrOpcode.ATOMIC_WRITE)
    ? Math.max(asked.maxInlineData, ATOMIC_BYTES)
    : asked.maxInlineData;
  return {
    maxSendWr: maxSendWr === 0 ? 0 : sendQueueShape(maxSendWr, maxSendSge, maxInlineData).entries,
    maxRecvWr: maxRecvWr === 0 ? 0 : recvQueueShape(maxRecvWr, maxRecvSge).entries,
    maxSendSge,
    maxRecvSge,
    maxInlineData,
  };
}

function ourCq(context: OpenDevice, cq: unknown, which: string): SoftCq {
  if (cq instanceof SoftCq && cq.context === context && !cq.destroyed) return cq;
  throw new VerbsError(
    CREATE,
    invalid(`${which} is not a live completion queue of this context`, 'Make one by createCq'),
  );
}

function ourSrq(context: OpenDevice, srq: unknown): SoftSrq {
  if (srq instanceof SoftSrq && srq.context === context && !srq.destroyed) return srq;
  throw new VerbsError(
    CREATE,
    invalid('srq is not a live shared receive queue of this context', 'Make one by createSrq'),
  );
}

/** A queue pair that a protection domain has: of any type but XRC_RECV. */
export class SoftQp extends BuildingQp implements Qp {
  readonly qpType: QpType;
  readonly sendCq: SoftCq;
  readonly recvCq: SoftCq;
  readonly srq: SoftSrq | undefined;
  readonly cap: QpCap;
  protected readonly batch: SendBatch;

  readonly #sq: SendQueue;
  readonly #rq: RecvQueue;
  readonly #asked: Pick<QpInitAttr, 'sqSigAll' | 'createFlags' | 'sendOpsFlags'>;

  constructor(
    readonly pd: OwnPd,
    init: QpInitAttr,
  ) {
    const { context } = pd;
    const { limits } = context;
    refuse(CREATE, qpInitProblem(init));
    const { qpType, sqSigAll = false, createFlags = 0, sendOpsFlags = sendOpsOf(qpType) } = init;
    const receives = init.srq === undefined && hasReceiveQueue(qpType);
    const asked = completeQpCap(init.cap, receives);
    refuse(CREATE, capProblem(asked, limits, limits.maxInlineBytes));
    const sendCq = ourCq(context, init.sendCq, 'sendCq');
    const recvCq = init.recvCq === undefined ? sendCq : ourCq(context, init.recvCq, 'recvCq');
    const srq = init.srq === undefined ? undefined : ourSrq(context, init.srq);
    const cap = grantedCap(qpType, asked);
    const sq = new SendQueue(context, qpType, cap);
    const rq = new RecvQueue(qpType, cap, srq !== undefined, context.spareRings);
    const { qpn } = context.command(CREATE, 'createQp', {
      type: qpType,
      pd: pd.handle,
      sendCq: sendCq.cqn,
      recvCq: recvCq.cqn,
      srq: srq?.srqn,
      cap,
      createFlags,
      sqSigAll,
      sq: sq.ring.memory,
      rq: rq.ring.memory,
    });
    const uses = [pd, sendCq, recvCq];
    super(context, new DeviceQp(qpn, sq.ring), init.qpContext, srq === undefined ? uses : [...uses, srq]);
    this.qpType = qpType;
    this.sendCq = sendCq;
    this.recvCq = recvCq;
    this.srq = srq;
    this.cap = cap;
    this.batch = new SendBatch(sq, sendOpsFlags);
    this.#sq = sq;
    this.#rq = rq;
    this.#asked = { sqSigAll, createFlags, sendOpsFlags };
    context.pairs.set(qpn, this);
  }

  get sendRing(): WorkRing {
    return this.#sq.ring;
  }

  get recvRing(): WorkRing {
    return this.#rq.ring;
  }

  /** Tells the NIC of what was published in {@link sendRing}, or, in ERR, in {@link recvRing}. */
  ring(): void {
    this.beginPost();
    this.endPost(true);
  }

  query(): QpQuery {
    const attr = this.queryAttr();
    const { qpType, sendCq, recvCq, srq, cap, qpContext } = this;
    const initAttr = { ...this.#asked, qpType, sendCq, recvCq, cap, qpContext };
    return { attr, initAttr: srq === undefined ? initAttr : { ...initAttr, srq } };
  }

  counters(): Readonly<Record<string, number>> {
    this.assertAlive('ibv_read_counters');
    return this.context.command('ibv_read_counters', 'qpCounters', this.qpNum);
  }

  postSend(wr: SendWr | readonly SendWr[]): void {
    this.assertAlive('ibv_post_send');
    const wrs = isList(wr) ? wr : [wr];
    const problem = this.#batchProblem();
    if (problem !== undefined && wrs.length > 0) throw new PostError('ibv_post_send', problem, wrs[0], 0);
    this.beginPost();
    try {
      this.#sq.post(wrs);
    } finally {
      this.endPost(true);
    }
  }

  postRecv(wr: RecvWr | readonly RecvWr[]): void {
    this.assertAlive('ibv_post_recv');
    this.beginPost();
    try {
      this.#rq.post(isList(wr) ? wr : [wr]);
    } finally {
      this.#endReceivePost();
    }
  }

  postRecvSge(wrId: WrId, lkey: number, addr: Address, length: number): void {
    this.assertAlive('ibv_post_recv');
    this.beginPost();
    try {
      this.#rq.postSge(wrId, lkey, addr, length);
    } finally {
      this.#endReceivePost();
    }
  }

  bindMw(mw: Mw, bind: MwBind): void {
    this.assertAlive('ibv_bind_mw');
    refuse('ibv_bind_mw', this.#batchProblem());
    this.beginPost();
    const problem = this.#sq.bind(mw, bind);
    this.endPost(true);
    refuse('ibv_bind_mw', problem);
  }

  attachMcast(gid: Gid): void {
    this.#changeMembership('ibv_attach_mcast', 'attachMcast', gid);
  }

  detachMcast(gid: Gid): void {
    this.#changeMembership('ibv_detach_mcast', 'detachMcast', gid);
  }

  modifyRateLimit(limit: QpRateLimit): void {
    const call = 'ibv_modify_qp_rate_limit';
    this.assertAlive(call);
    const { packetPacingCaps } = this.context.queryDeviceEx();
    refuse(call, rateLimitProblem(limit, this.qpType, packetPacingCaps));
    const { rateLimit, maxBurstSize = 0, typicalPktSize = 0 } = limit;
    this.context.command(call, 'modifyRateLimit', {
      qpn: this.qpNum,
      rateLimitKbps: rateLimit,
      maxBurstBytes: maxBurstSize,
      typicalPacketBytes: typicalPktSize,
    });
  }

  createFlow(): never {
    const message = 'this device does not steer flows';
    throw new VerbsError('ibv_create_flow', { errno: 'EOPNOTSUPP', message, advice: '' });
  }

  protected beginPost(): void {
    this.context.doorbell.begin(this.qpNum);
  }

  protected endPost(posted: boolean): void {
    const { doorbell } = this.context;
    if (posted) doorbell.ring(this.qpNum, this.#sq.ring);
    else doorbell.end();
  }

  protected release(): void {
    this.context.endCommand('ibv_destroy_qp', 'destroyQp', this.qpNum);
    this.context.pairs.delete(this.qpNum);
    this.batch.abort();
    const { adapter, spareRings } = this.context;
    for (const { ring } of [this.#sq, this.#rq]) {
      const memory = ring.retire();
      // A NIC that has failed may still hold the ring.
      if (memory !== undefined && adapter.failure === undefined) spareRings.give(memory);
    }
  }

  /** Receives are found when a message comes; but in ERR none comes, and they must be flushed. */
  #endReceivePost(): void {
    this.endPost(this.#rq.ring.state === QpState.ERR);
  }

  /** While a batch is open its entries lie where others would be written. */
  #batchProblem(): Problem | undefined {
    return this.batch.open ? invalid('a batch is open', 'Call wrComplete or wrAbort first') : undefined;
  }

  #changeMembership(call: string, verb: 'attachMcast' | 'detachMcast', gid: Gid): void {
    this.assertAlive(call);
    // What crosses to the adapter is cloned, and must not be more than a GID.
    if (!(gid instanceof Uint8Array) || gid.length !== GID_BYTES)
      refuse(call, invalid('that is not a GID', 'It is a Uint8Array of 16 bytes; gidFromIp makes one'));
    this.context.command(call, verb, { qpn: this.qpNum, gid: Uint8Array.from(gid) });
  }
}
