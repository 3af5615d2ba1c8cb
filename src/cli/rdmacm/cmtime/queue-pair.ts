import { type CmId, type ConnParam, type Context, type Cq, QpType } from '../../../entry/index.js';
import { verbsOf } from '../common/hosting.js';

/** What both sides name. */
export const CONN_PARAM: ConnParam = { responderResources: 1, initiatorDepth: 1 };

/** Makes queue pairs for nothing but to be connected: the smallest there are, and one completion queue for all. */
export class QueuePairs {
  readonly #cqs = new Map<Context, Cq>();

  create(id: CmId): void {
    const context = verbsOf(id);
    const cq = this.#cqs.get(context) ?? context.createCq({ cqe: 1 });
    this.#cqs.set(context, cq);
    const cap = { maxSendWr: 1, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 };
    id.createQp(undefined, { qpType: QpType.RC, sendCq: cq, recvCq: cq, cap });
  }

  /** Once no queue pair is left. */
  close(): void {
    for (const cq of this.#cqs.values()) cq.destroy();
    this.#cqs.clear();
  }
}
