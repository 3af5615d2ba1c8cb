import type { EventType, QpAttr, QpState, QpType, Syndrome, WcStatus } from '../../ibta/index.js';
import type { CopyingQp } from '../memory/copying/qp-copies.js';
import type { PacketOrigin } from '../port/packet-builder.js';
import type { CompletionCounter } from '../queues/completion-counter.js';
import type { CompletionQueue } from '../queues/completion-queue.js';
import type { SharedReceiveQueue } from '../queues/shared-receive-queue.js';
import type { WorkQueue } from '../queues/work-queue.js';
import type { Scheduled } from './turns.js';

/** A request whose failure ends its queue pair or its send queue, and the completion that reports it. */
export interface FailedRequest {
  /** Whose request it is: the oldest of the requester, or the receive request that the responder fills. */
  readonly half: 'sending' | 'receiving';
  readonly status: WcStatus;
  readonly syndrome: Syndrome;
  readonly detail: Int32Array;
}

/**
 * What the halves of a queue pair read of it, and what they report to it: what adapters call a QP context. A half knows its queue
 * pair only as this.
 */
export interface QpContext extends PacketOrigin, Scheduled, CopyingQp {
  readonly qpn: number;
  readonly type: QpType;
  /** Its protection domain; 0 when it has none: an XRC target QP uses those of its shared receive queues (protocol/services.md 3.3). */
  readonly pd: number;
  /** Its XRC domain; 0 when it is in none. */
  readonly xrcd: number;
  readonly sendCq: CompletionQueue;
  readonly recvCq: CompletionQueue;
  readonly srq: SharedReceiveQueue | undefined;
  readonly sq: WorkQueue;
  readonly rq: WorkQueue;
  readonly createFlags: number;
  readonly sqSigAll: boolean;
  readonly maxInlineBytes: number;
  readonly opcodeClass: number;
  readonly timerId: number;
  readonly attr: QpAttr;
  readonly state: QpState;
  /** Why it is in ERR or SQE, if it is and a failure led there. */
  readonly errorCause: Syndrome;
  readonly mtuBytes: number;
  /** Whether its turn to send requests is still to come. */
  readonly isDueToSend: boolean;
  /** Whether requests may leave: SQD lets those that were started finish. */
  readonly maySend: boolean;
  readonly mayStart: boolean;
  /** Whether requests of the peer are executed: an error of the send queue does not touch them (SQE). */
  readonly mayReceive: boolean;
  /** Its row in `NicCore.peers`. */
  readonly peerRow: number;
  /** Counts the WRITEs of the peer, where the program wants that. */
  readonly remoteWrites: CompletionCounter | undefined;

  /** Every request that was started is complete. */
  onSendIdle(): void;
  /**
   * Moves to ERR, completes the request whose failure leads there, and then all posted requests as flushed
   * (protocol/reliable.md 2.9).
   */
  enterError(cause: Syndrome, failed?: FailedRequest): void;
  /** Moves to SQE after a send request failed, completes it, and flushes those behind it; receiving continues (protocol/reliable.md 2.10). */
  enterSendQueueError(failed: FailedRequest): void;
  /** @param why of a refusal to the peer */
  raise(type: EventType, why?: Syndrome): void;
}
