import type { QpAttr, Syndrome } from '../../ibta/index.js';
import type { NicCore } from '../nic-core.js';
import type { SendingHalf } from '../queue-pairs/halves.js';
import type { FailedRequest, QpContext } from '../queue-pairs/qp-context.js';
import { TransmitResult } from '../queue-pairs/turns.js';
import { type CompletionNames, UnacknowledgedQueue } from './send-queue.js';

/** A requester each of whose requests is one packet that nobody acknowledges: that of UD and of raw packet QPs. */
export abstract class SinglePacketRequester implements SendingHalf {
  /** A packet leaves at once or not at all. */
  readonly busy = false;
  protected readonly queue: UnacknowledgedQueue;

  protected constructor(
    protected readonly qp: QpContext,
    protected readonly core: NicCore,
    names: CompletionNames,
  ) {
    this.queue = new UnacknowledgedQueue(qp, core, names);
  }

  /** Sends the request at word `entry` of the send queue. @returns MORE when it left, and the next may follow */
  protected abstract send(entry: number): TransmitResult;

  start(): void {
    this.queue.start();
  }

  onAttributes(changes: Partial<QpAttr>): void {
    this.queue.onAttributes(changes);
  }

  limitRate(rateKbps: number, maxBurstBytes: number, typicalPacketBytes: number): void {
    this.queue.limitRate(rateKbps, maxBurstBytes, typicalPacketBytes);
  }

  transmit(budget: number): TransmitResult {
    const { qp } = this;
    const { sq } = qp;
    let served: TransmitResult = TransmitResult.MORE;
    for (let left = budget; left > 0 && served === TransmitResult.MORE; left -= 1)
      served = qp.mayStart && sq.has(sq.head) ? this.send(sq.entry(sq.head)) : TransmitResult.IDLE;
    sq.publish();
    return served;
  }

  onResponse(): void {
    this.core.counters.rxUnexpectedResponse += 1;
  }

  onTimer(): void {
    this.queue.onTimer();
  }

  completeFailed(failed: FailedRequest): void {
    this.queue.completeFailed(failed);
  }

  flush(cause: Syndrome): void {
    this.queue.flush(cause);
  }

  reset(): void {
    this.queue.reset();
  }
}
