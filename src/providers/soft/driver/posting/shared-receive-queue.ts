import { SrqType } from '../../../../device/ibta/index.js';
import { recvQueueShape } from '../../../../device/nic/index.js';
import {
  type Address,
  completeSrqInit,
  invalid,
  isList,
  type RecvWr,
  refuse,
  Resource,
  type Srq,
  type SrqAttr,
  type SrqInitAttr,
  srqInitProblem,
  type SrqModifyAttr,
  srqModifyProblem,
  VerbsError,
  type WrId,
} from '../../../../api/verbs/index.js';
import { SoftCq } from '../completions/completion-queue.js';
import type { OpenDevice, OwnPd } from '../context-base.js';
import { SoftXrcd } from '../domains/xrc-domain.js';
import { SharedRecvQueue } from './recv-queue.js';
import type { WorkRing } from './work-ring.js';

const CALL = 'ibv_create_srq';

function xrcParts(context: OpenDevice, { srqType, xrcd, cq }: SrqInitAttr): [SoftXrcd, SoftCq] | [] {
  if (srqType !== SrqType.XRC) return [];
  if (!(xrcd instanceof SoftXrcd) || xrcd.context !== context || xrcd.destroyed)
    throw new VerbsError(CALL, invalid('xrcd is not an open XRC domain of this context', 'Make one by openXrcd'));
  if (!(cq instanceof SoftCq) || cq.context !== context || cq.destroyed)
    throw new VerbsError(CALL, invalid('cq is not a live completion queue of this context', 'Make one by createCq'));
  return [xrcd, cq];
}

export class SoftSrq extends Resource implements Srq {
  readonly context: OpenDevice;
  readonly srqType: SrqType;
  readonly srqContext: unknown;
  readonly srqNum: number;
  readonly maxSge: number;
  /** By which the NIC knows it, whatever its type. */
  readonly srqn: number;
  protected readonly label: string;

  readonly #queue: SharedRecvQueue;

  constructor(
    readonly pd: OwnPd,
    init: SrqInitAttr,
  ) {
    const { context } = pd;
    refuse(CALL, srqInitProblem(init, context.limits));
    const { srqType, maxWr, maxSge, srqLimit } = completeSrqInit(init);
    const ofXrc = xrcParts(context, init);
    const [xrcd, cq] = ofXrc;
    const queue = new SharedRecvQueue(recvQueueShape(maxWr, maxSge).entries, maxSge, context.spareRings);
    const { srqn } = context.command(CALL, 'createSrq', {
      pd: pd.handle,
      maxWr: queue.maxWr,
      maxSge,
      limit: srqLimit,
      memory: queue.ring.memory,
      xrcd: xrcd?.handle,
      cq: cq?.cqn,
    });
    super('ibv_destroy_srq', [pd, ...ofXrc]);
    this.context = context;
    this.srqType = srqType;
    this.srqContext = init.srqContext;
    this.srqn = srqn;
    this.srqNum = srqType === SrqType.XRC ? srqn : 0;
    this.maxSge = maxSge;
    this.label = `SRQ 0x${srqn.toString(16)}`;
    this.#queue = queue;
    context.sharedQueues.set(srqn, this);
  }

  get maxWr(): number {
    return this.#queue.maxWr;
  }

  get ring(): WorkRing {
    return this.#queue.ring;
  }

  modify(attr: SrqModifyAttr): void {
    const call = 'ibv_modify_srq';
    this.assertAlive(call);
    refuse(call, srqModifyProblem(attr, this.maxWr, this.context.limits));
    const { srqn, context } = this;
    const { maxWr, srqLimit: limit } = attr;
    if (maxWr === undefined) {
      if (limit !== undefined) context.command(call, 'modifySrq', { srqn, limit });
      return;
    }
    const granted = recvQueueShape(maxWr, this.maxSge).entries;
    this.#queue.resize(granted, (memory) =>
      context.command(call, 'modifySrq', { srqn, limit, resize: { memory, maxWr: granted } }),
    );
  }

  query(): SrqAttr {
    this.assertAlive('ibv_query_srq');
    const { limit } = this.context.command('ibv_query_srq', 'querySrq', this.srqn);
    return { maxWr: this.maxWr, maxSge: this.maxSge, srqLimit: limit };
  }

  postRecv(wr: RecvWr | readonly RecvWr[]): void {
    this.assertAlive('ibv_post_srq_recv');
    this.#queue.post(isList(wr) ? wr : [wr]);
  }

  postRecvSge(wrId: WrId, lkey: number, addr: Address, length: number): void {
    this.assertAlive('ibv_post_srq_recv');
    this.#queue.postSge(wrId, lkey, addr, length);
  }

  destroy(): void {
    this.end();
  }

  protected release(): void {
    this.context.endCommand('ibv_destroy_srq', 'destroySrq', this.srqn);
    this.context.sharedQueues.delete(this.srqn);
  }
}
