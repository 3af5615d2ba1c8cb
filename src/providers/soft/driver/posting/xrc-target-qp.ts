import { type QpCap, QpType } from '../../../../device/ibta/index.js';
import { recvQueueShape, sendQueueShape } from '../../../../device/nic/index.js';
import {
  invalid,
  openQpProblem,
  refuse,
  type Resource,
  VerbsError,
  type Xrcd,
  type XrcTargetQp,
  type XrcTargetQpInitAttr,
  type XrcTargetQpOpenAttr,
  type XrcTargetQpQuery,
} from '../../../../api/verbs/index.js';
import type { OpenDevice } from '../context-base.js';
import { DeviceQp, SoftQpBase } from './qp-base.js';
import { WorkRing } from './work-ring.js';

/** It has no queues: its rings are there for the state that the NIC publishes in them. */
const NO_QUEUES: QpCap = { maxSendWr: 0, maxRecvWr: 0, maxSendSge: 0, maxRecvSge: 0, maxInlineData: 0 };

/** An XRC domain, as the targets in it need it. */
export type OwnXrcd = Xrcd &
  Resource & {
    readonly context: OpenDevice;
    readonly handle: number;
  };

class DeviceTarget extends DeviceQp {
  readonly holders = new Set<SoftXrcTargetQp>();
}

function createTarget({ context, handle }: OwnXrcd): DeviceTarget {
  const sq = new WorkRing(sendQueueShape(0, 0, 0), 0, context.spareRings);
  const rq = new WorkRing(recvQueueShape(0, 0), 0, context.spareRings);
  const { qpn } = context.command('ibv_create_qp', 'createQp', {
    type: QpType.XRC_RECV,
    xrcd: handle,
    cap: NO_QUEUES,
    sqSigAll: false,
    sq: sq.memory,
    rq: rq.memory,
  });
  return new DeviceTarget(qpn, sq);
}

export class SoftXrcTargetQp extends SoftQpBase implements XrcTargetQp {
  readonly qpType = QpType.XRC_RECV;
  readonly #target: DeviceTarget;

  constructor(
    readonly xrcd: OwnXrcd,
    { qpContext }: XrcTargetQpInitAttr = {},
    target: DeviceTarget = createTarget(xrcd),
  ) {
    super(xrcd.context, target, qpContext, [xrcd]);
    this.#target = target;
    target.holders.add(this);
    if (target.holders.size === 1) this.context.pairs.set(this.qpNum, this);
  }

  /** Takes part in one that exists. @throws VerbsError EINVAL when the domain has none of that number */
  static open(xrcd: OwnXrcd, attr: XrcTargetQpOpenAttr): SoftXrcTargetQp {
    const { qpNum } = attr;
    refuse('ibv_open_qp', openQpProblem(qpNum));
    const known = xrcd.context.pairs.get(qpNum);
    if (!(known instanceof SoftXrcTargetQp) || known.xrcd.handle !== xrcd.handle) {
      const message = `no QP of type XRC_RECV in this domain has number 0x${qpNum.toString(16)}`;
      throw new VerbsError('ibv_open_qp', invalid(message, 'Its maker tells the number, and that it is still there'));
    }
    return new SoftXrcTargetQp(xrcd, attr, known.#target);
  }

  query(): XrcTargetQpQuery {
    const { qpType, xrcd, qpContext } = this;
    return { attr: this.queryAttr(), initAttr: { qpType, xrcd, qpContext } };
  }

  protected release(): void {
    const { context, qpNum } = this;
    const { holders } = this.#target;
    if (holders.size === 1) context.endCommand('ibv_destroy_qp', 'destroyQp', qpNum);
    holders.delete(this);
    context.pairs.delete(qpNum);
    // Events name one of those who hold it.
    for (const heir of holders) context.pairs.set(qpNum, heir);
  }
}
