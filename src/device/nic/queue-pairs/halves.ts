import type { Drops, QpAttr, Refusal, Syndrome } from '../../ibta/index.js';
import type { OpcodeService, PacketMeta } from '../../wire/index.js';
import type { CompletionQueue } from '../queues/completion-queue.js';
import type { TransmitResult } from './turns.js';
import type { NicCore } from '../nic-core.js';
import type { FailedRequest, QpContext } from './qp-context.js';

/** What sets the queue pairs of one type apart from the others. */
export interface TransportService {
  /** Class of the opcodes that it speaks (protocol/packets.md 1.2). */
  readonly service: OpcodeService | undefined;
  /** Whether it has one peer, named by `ahAttr` and `destQpNum`. */
  readonly connected: boolean;
  /** Whether peers may send it requests. */
  readonly responds: boolean;
  /** Which work queues it has, and whether a shared one can take the place of the receive queue. */
  readonly sendQueue: boolean;
  readonly recvQueue: boolean;
  readonly sharedRecvQueue: boolean;
  readonly requester: (qp: QpContext, core: NicCore) => SendingHalf;
  readonly responder: (qp: QpContext, core: NicCore) => ReceivingHalf;
}

/** The half of a queue pair that sends requests: the requester of its transport service. */
export interface SendingHalf {
  /** Whether some request was started and is not complete. */
  readonly busy: boolean;
  /** The QP goes from RTR to RTS: begins at its `sqPsn`. */
  start(): void;
  /** Attributes changed in a state where requests may be in flight. */
  onAttributes(changes: Partial<QpAttr>): void;
  /**
   * Paces what is sent; absent where the service has no pacing.
   *
   * @param rateKbps - 0 lifts the limit
   */
  limitRate?(rateKbps: number, maxBurstBytes: number, typicalPacketBytes: number): void;
  /** Sends request packets, at most `budget`. */
  transmit(budget: number): TransmitResult;
  /** Takes an acknowledgement or a response. `bits` are those of its opcode (`OpcodeBit`). */
  onResponse(bytes: Uint8Array, offset: number, lengthBytes: number, bits: number, meta: PacketMeta): void;
  /**
   * What it sends, or requests, meets congestion; absent where the service cannot send less.
   *
   * @param notified the peer sent a notification; else answers came marked
   */
  onCongestion?(notified: boolean): void;
  /** The peer has sent a FLUSH. @param twice its ICRC was that of Linux's rxe */
  onPeerFlush?(twice: boolean): void;
  /** The peer's NIC is gone for good: no answer will come. Absent where none is waited for. */
  onPeerGone?(): void;
  /** Its counters and measurements, by the names that tools print; absent where the peer does not answer. */
  counters?(): Record<string, number>;
  /** The QP's timer ran out `lateUs` ago (`TimerOwner`). */
  onTimer(lateUs: number): void;
  completeFailed(failed: FailedRequest): void;
  /** Completes all that is posted as flushed: at most one ring full, since a driver may claim any number, and who posts more rings. */
  flush(cause: Syndrome): void;
  /** Forgets everything; nothing completes. */
  reset(): void;
}

/** The half of a queue pair that takes requests: the responder of its transport service. */
export interface ReceivingHalf {
  /** The request that it has refused, if it has; absent where nothing is refused. */
  readonly refusal?: Refusal | undefined;
  /** What it has dropped without a word, if it has; absent where all that is dropped is answered. */
  readonly drops?: Drops | undefined;
  /** Its counters, as those of {@link SendingHalf}. */
  counters?(): Record<string, number>;
  /** The QP goes from INIT to RTR: begins at its `rqPsn`. */
  start(): void;
  /** Attributes changed in a state where requests may be in flight. */
  onAttributes(changes: Partial<QpAttr>): void;
  /** Takes a request packet that was found to belong to this QP. */
  onRequest(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void;
  /** Takes an Ethernet frame (raw packet QPs). */
  onFrame(bytes: Uint8Array, offset: number, lengthBytes: number): void;
  /** Whether its receives complete to that queue, which need not be the one that the QP was made with. */
  completesTo(cq: CompletionQueue): boolean;
  /** Sends responses that carry data, at most `budget`. */
  transmit(budget: number): TransmitResult;
  transmitAcknowledgement(): TransmitResult;
  /** Completes in error the receive request that it fills. */
  completeFailed(failed: FailedRequest): void;
  flush(cause: Syndrome): void;
  /** Forgets everything; nothing completes. */
  reset(): void;
}
