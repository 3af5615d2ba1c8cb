import type { CompletionQueueWatcher, QueuePairWatcher, WorkQueueWatcher } from '../../../device/nic/index.js';
import {
  type Ah,
  type AsyncEvent,
  type Context,
  type Cq,
  invalid,
  unsupported,
  type Qp,
  type QpModifyAttr,
  type Srq,
  VerbsError,
  type WorkCompletion,
} from '../../../api/verbs/index.js';
import { SoftAh } from './address-handle.js';
import { SoftContext } from './context.js';
import { SoftCq } from './completions/completion-queue.js';
import type { OpenDevice } from './context-base.js';
import type { CompletionRing } from './completions/completion-ring.js';
import { SoftQp } from './posting/queue-pair.js';
import { SoftSrq } from './posting/shared-receive-queue.js';
import type { WorkRing } from './posting/work-ring.js';

// The rings of objects, for who translates the rings of another host interface into ours (`docs/internals/host-interface.md`). What is
// written there is checked by the NIC alone; `postSend` and its like check it before.

export interface QpRings {
  readonly send: WorkRing;
  /** Takes nothing where the queue pair has a shared receive queue. */
  readonly recv: WorkRing;
  /** Tells the NIC of what was published in `send`; and in `recv`, where the queue pair is in ERR. */
  ring(): void;
}

function foreign(what: string): VerbsError {
  return new VerbsError('rings', invalid(`that is no ${what} of a software NIC`));
}

/** @throws VerbsError EINVAL for a queue pair of another provider */
export function qpRings(qp: Qp): QpRings {
  if (!(qp instanceof SoftQp)) throw foreign('queue pair');
  return { send: qp.sendRing, recv: qp.recvRing, ring: () => qp.ring() };
}

/**
 * As `qp.modify`, for a program that may set Q_Keys with the top bit (Linux: CAP_NET_RAW).
 *
 * @throws VerbsError as `qp.modify`, and EINVAL for a queue pair of another provider
 */
export function modifyPrivileged(qp: Qp, attr: QpModifyAttr): void {
  if (!(qp instanceof SoftQp)) throw foreign('queue pair');
  qp.modifyAs(attr, true);
}

/** The ring of a completion queue, another one after each `resize`. @throws VerbsError EINVAL for one of another provider */
export function completionRing(cq: Cq): CompletionRing {
  if (!(cq instanceof SoftCq)) throw foreign('completion queue');
  return cq.ring;
}

/** The completion that begins at that word of {@link completionRing}. @throws VerbsError EINVAL for one of another provider */
export function completionAt(cq: Cq, at: number): WorkCompletion {
  if (!(cq instanceof SoftCq)) throw foreign('completion queue');
  return cq.completionAt(at);
}

/** The ring of a shared receive queue. @throws VerbsError EINVAL for one of another provider */
export function sharedReceiveRing(srq: Srq): WorkRing {
  if (!(srq instanceof SoftSrq)) throw foreign('shared receive queue');
  return srq.ring;
}

/** The number by which send entries name an address handle. @throws VerbsError EINVAL for one of another provider */
export function addressHandleOf(ah: Ah): number {
  if (!(ah instanceof SoftAh)) throw foreign('address handle');
  return ah.handle;
}

/** The oldest asynchronous event of a device, where there is one. @throws VerbsError EINVAL for one of another provider */
export function takeAsyncEvent(context: Context): AsyncEvent | undefined {
  if (!(context instanceof SoftContext)) throw foreign('device');
  return context.takeAsyncEvent();
}

/** A NIC in another thread cannot call back from the midst of its work. */
function requireNear(context: OpenDevice): void {
  if (context.hasThread)
    throw new VerbsError('rings', unsupported('the NIC is in another thread', "Open it with host 'inline'"));
}

/**
 * Has the NIC report what it does with the queues of a queue pair, so that nobody has to look at all of them.
 *
 * @throws VerbsError EINVAL for a queue pair of another provider; EOPNOTSUPP where the NIC is in another thread
 */
export function watchQueuePair(qp: Qp, watcher: QueuePairWatcher): void {
  if (!(qp instanceof SoftQp)) throw foreign('queue pair');
  requireNear(qp.context);
  qp.context.command('rings', 'watchQp', { qpn: qp.qpNum, watcher });
}

/** As {@link watchQueuePair}, of a completion queue. */
export function watchCompletionQueue(cq: Cq, watcher: CompletionQueueWatcher): void {
  if (!(cq instanceof SoftCq)) throw foreign('completion queue');
  requireNear(cq.context);
  cq.context.command('rings', 'watchCq', { cqn: cq.cqn, watcher });
}

/** As {@link watchQueuePair}, of a shared receive queue. */
export function watchSharedReceiveQueue(srq: Srq, watcher: WorkQueueWatcher): void {
  if (!(srq instanceof SoftSrq)) throw foreign('shared receive queue');
  requireNear(srq.context);
  srq.context.command('rings', 'watchSrq', { srqn: srq.srqn, watcher });
}

/** How sentences name a completion queue: `CQ 1`. */
export function nameOfCq(cq: Cq): string {
  if (!(cq instanceof SoftCq)) throw foreign('completion queue');
  return `CQ ${cq.cqn}`;
}
