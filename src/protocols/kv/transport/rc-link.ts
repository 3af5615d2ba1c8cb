import type { CmId } from '../../../api/rdmacm/index.js';
import { type Cq, type Qp, VerbsError } from '../../../api/verbs/index.js';
import { type Engine, type Hold, type Lease, type Receiver, Receives, type SendListener } from '../../core/index.js';
import type { Transfer } from '../protocol/index.js';
import { NO_QUEUE_PAIRS } from '../wire/index.js';
import {
  type ClientLink,
  deepen,
  depthFor,
  INLINE_BYTES,
  type LinkListener,
  type LinkSizes,
  OWNER,
  type ServerLink,
} from './link.js';
import { Losing } from './losing.js';
import { MessageQueue } from './message-queue.js';
import { describeTransfer } from './value-mover.js';

/** What goes by the queue pair: a message, or a value. */
type Sent = Transfer | typeof MESSAGE;
const MESSAGE = 'message';

/** Messages on a reliable connection: one end of it. A message is lost only with the connection. */
export class RcLink implements ClientLink, ServerLink, Receiver, SendListener<Sent> {
  readonly pairs = NO_QUEUE_PAIRS;
  readonly place = { pairs: NO_QUEUE_PAIRS, addr: 0n, rkey: 0 };
  readonly #sends: MessageQueue<Sent>;
  readonly #receives: Receives;
  readonly #hold: Hold;
  readonly #fate = new Losing();

  /**
   * Makes the queue pair of an identifier, with all receives that the peer may fill.
   *
   * @throws VerbsError ENOMEM when there is no room, EIO when the device was lost
   */
  constructor(
    readonly engine: Engine,
    id: CmId,
    sizes: LinkSizes,
  ) {
    const depth = depthFor(sizes);
    // Of each slot a value may be on its way.
    const sends = depth + sizes.window;
    const cap = { maxSendWr: sends, maxRecvWr: depth, maxSendSge: 1, maxRecvSge: 1, maxInlineData: INLINE_BYTES };
    const qp = id.createQp(engine.pd, { sendCq: engine.cq, recvCq: engine.cq, sqSigAll: true, cap });
    this.#sends = new MessageQueue(engine, qp, sends, describe, this);
    this.#receives = new Receives(engine, qp, this, { bytes: sizes.slotBytes, owner: OWNER });
    try {
      deepen(engine, this.#receives, depth);
    } catch (error) {
      this.#receives.end();
      this.#sends.destroyed();
      throw error;
    }
    this.#hold = engine.hold();
  }

  get room(): number {
    return this.#fate.isOver ? 0 : this.#sends.room;
  }

  listen(listener: LinkListener): void {
    this.#fate.listen(listener);
  }

  begin(): void {
    // The connection is all there is.
  }

  send(bytes: Uint8Array): void {
    if (!this.#fate.isOver) this.#sends.send(bytes, MESSAGE);
  }

  move(transfer: Transfer): boolean {
    return !this.#fate.isOver && this.#sends.move(transfer.buffer, transfer.length, transfer);
  }

  end(): void {
    if (!this.#fate.end()) return;
    this.#sends.destroyed();
    this.#receives.end();
    this.#hold.release();
  }

  onDone(sent: Sent | undefined): void {
    if (sent !== MESSAGE) sent?.done(true);
    this.#fate.listener?.onRoom();
  }

  onFailed(sent: Sent | undefined, _: Lease | undefined, cq: Cq | undefined): void {
    if (sent !== MESSAGE) sent?.done(false);
    if (cq !== undefined) this.#loseBy(cq);
  }

  onRefused(error: VerbsError): void {
    this.#fate.lose(error);
  }

  onMessage(receive: number, bytes: Uint8Array, cq: Cq): void {
    const { byteLen } = cq;
    try {
      this.#fate.listener?.onMessage(bytes.subarray(0, byteLen));
    } finally {
      this.#giveBack(receive);
    }
  }

  onReceiveError(cq: Cq): void {
    this.#loseBy(cq);
  }

  #giveBack(receive: number): void {
    try {
      this.#receives.giveBack(receive);
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      this.#fate.lose(error);
    }
  }

  #loseBy(cq: Cq): void {
    this.#fate.loseBy(this.engine, cq);
  }
}

function describe(qp: Qp, sent: Sent): void {
  if (sent === MESSAGE) qp.wrSend();
  else describeTransfer(qp, sent);
}
