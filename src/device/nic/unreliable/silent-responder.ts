import type { DropReason, Drops, Syndrome } from '../../ibta/index.js';
import type { PacketMeta } from '../../wire/index.js';
import type { NicCore } from '../nic-core.js';
import type { ReceivingHalf } from '../queue-pairs/halves.js';
import type { FailedRequest, QpContext } from '../queue-pairs/qp-context.js';
import { ReceiveBuffer } from '../queue-pairs/receive-buffer.js';
import { TransmitResult } from '../queue-pairs/turns.js';
import type { CompletionQueue } from '../queues/completion-queue.js';

/** A responder that never answers: that of UC, UD and raw packet QPs. What it does not take is dropped in silence. */
export abstract class SilentResponder implements ReceivingHalf {
  protected readonly receive: ReceiveBuffer;
  #drops: Drops | undefined;

  constructor(
    protected readonly qp: QpContext,
    protected readonly core: NicCore,
  ) {
    this.receive = new ReceiveBuffer(qp, core);
  }

  /** What it has dropped, if it has. */
  get drops(): Drops | undefined {
    return this.#drops;
  }

  /** A message is dropped. */
  protected note(reason: DropReason, a = 0, b = 0): void {
    this.#drops = { count: (this.#drops?.count ?? 0) + 1, reason, a, b };
  }

  abstract onRequest(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void;

  start(): void {
    // Whatever comes first is as good a beginning as any.
  }

  onAttributes(): void {
    // What it looks at, it looks up in the attributes.
  }

  onFrame(bytes: Uint8Array, offset: number, lengthBytes: number): void;
  onFrame(): void {
    // Frames go to raw packet QPs alone.
  }

  completesTo(cq: CompletionQueue): boolean {
    return this.receive.completesTo(cq);
  }

  transmit(): TransmitResult {
    return TransmitResult.IDLE;
  }

  transmitAcknowledgement(): TransmitResult {
    return TransmitResult.IDLE;
  }

  completeFailed(failed: FailedRequest): void {
    this.receive.completeFailed(failed);
  }

  flush(cause: Syndrome): void {
    this.receive.flush(cause);
  }

  reset(): void {
    this.#drops = undefined;
    this.receive.reset();
  }
}
