import type { CmId } from '../../../api/rdmacm/index.js';
import type { Cq, Qp, VerbsError } from '../../../api/verbs/index.js';
import { type Engine, type Lease, type SendListener, SendQueue } from '../../core/index.js';
import type { Transfer } from '../protocol/index.js';
import { OWNER } from './link.js';
import type { LinkState } from './link-state.js';
import { postFor } from './send-copy.js';

/** The queue pair of a connection whose messages go beside it: on this one go values that do not fit a message. It also tells when the peer goes. */
export class ValueMover implements SendListener<Transfer> {
  readonly #transfers: SendQueue<Transfer>;
  #hasEnded = false;

  /**
   * Makes the queue pair of an identifier.
   *
   * @param most values that may be on their way at a time
   * @throws VerbsError ENOMEM when there is no room, EIO when the device was lost
   */
  constructor(
    private readonly engine: Engine,
    id: CmId,
    most: number,
    private readonly state: LinkState,
  ) {
    const cap = { maxSendWr: most, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1 };
    const { cq, pd } = engine;
    const qp = id.createQp(pd, { sendCq: cq, recvCq: cq, sqSigAll: true, cap });
    this.#transfers = new SendQueue(engine, qp, most, this, OWNER);
  }

  /** Begins to move a value. @returns false when there is no way; then it is not told any more */
  move(transfer: Transfer): boolean {
    return !this.#hasEnded && postFor(this.#transfers, transfer.buffer, transfer.length, transfer, describeTransfer);
  }

  /** Ends it, once the queue pair was destroyed. Idempotent. */
  end(): void {
    this.#hasEnded = true;
    this.#transfers.destroyed();
  }

  onDone(transfer: Transfer | undefined): void {
    transfer?.done(true);
  }

  onFailed(transfer: Transfer | undefined, _: Lease | undefined, cq: Cq | undefined): void {
    transfer?.done(false);
    if (cq !== undefined) this.state.loseBy(this.engine, cq);
  }

  onRefused(error: VerbsError): void {
    this.state.lose(error);
  }
}

/** Says of a transfer, by the queue pair's builder, what it is. */
export function describeTransfer(qp: Qp, { isWrite, remote: { rkey, addr } }: Transfer): void {
  if (isWrite) qp.wrRdmaWrite(rkey, addr);
  else qp.wrRdmaRead(rkey, addr);
}
