import { WcOpcode } from '../../../device/ibta/index.js';
import type { CmId } from '../../../api/rdmacm/index.js';
import type { Cq, Qp, VerbsError } from '../../../api/verbs/index.js';
import { type Engine, type Lease, RcEndpoint } from '../../core/index.js';
import type { Transfer } from '../protocol/index.js';
import { NO_QUEUE_PAIRS } from '../wire/index.js';
import {
  type ClientLink,
  depthFor,
  INLINE_BYTES,
  type LinkListener,
  type LinkSizes,
  OWNER,
  SPARE_BUFFERS,
  type ServerLink,
} from './link.js';
import { LinkState } from './link-state.js';
import { postFor, sendCopy } from './send-copy.js';
import { describeTransfer } from './value-mover.js';

/** What goes by the queue pair: a message, or a value. */
type Sent = Transfer | typeof MESSAGE;
const MESSAGE = 'message';
const NO_MESSAGE = new Uint8Array(0);

/** Messages on a reliable connection: one end of it. A message is lost only with the connection. */
export class RcLink extends RcEndpoint<Sent> implements ClientLink, ServerLink {
  readonly pairs = NO_QUEUE_PAIRS;
  readonly place = { pairs: NO_QUEUE_PAIRS, addr: 0n, rkey: 0 };
  readonly #state = new LinkState();

  /**
   * Makes the queue pair of an identifier, with all receives that the peer may fill.
   *
   * @throws VerbsError ENOMEM when there is no room, EIO when the device was lost
   */
  constructor(engine: Engine, id: CmId, sizes: LinkSizes) {
    const depth = depthFor(sizes);
    super(engine, id, {
      owner: OWNER,
      // Each slot may have a value in flight.
      sends: depth + sizes.window,
      receives: depth,
      bufferBytes: sizes.slotBytes,
      spare: SPARE_BUFFERS,
      inlineBytes: INLINE_BYTES,
      maxSendSge: 1,
    });
  }

  get room(): number {
    return this.#state.isOver ? 0 : this.sends.room;
  }

  listen(listener: LinkListener): void {
    this.opened();
    this.#state.listen(listener);
  }

  begin(): void {
    // The connection is all there is.
  }

  send(bytes: Uint8Array): void {
    if (!this.#state.isOver) sendCopy(this.sends, bytes, MESSAGE, describe, false);
  }

  move(transfer: Transfer): boolean {
    return !this.#state.isOver && postFor(this.sends, transfer.buffer, transfer.length, transfer, describe);
  }

  override destroyed(): void {
    this.#state.end();
    super.destroyed();
  }

  onDone(sent: Sent | undefined): void {
    if (sent !== MESSAGE) sent?.done(true);
    this.#state.listener?.onRoom();
  }

  onFailed(sent: Sent | undefined, _: Lease | undefined, cq: Cq | undefined): void {
    if (sent !== MESSAGE) sent?.done(false);
    if (cq !== undefined) this.#loseBy(cq);
  }

  onRefused(error: VerbsError): void {
    this.#state.lose(error);
  }

  onMessage(receive: number, bytes: Uint8Array, cq: Cq): void {
    const { byteLen, opcode } = cq;
    try {
      // A WRITE has put its bytes elsewhere: the buffer has what its last user left there.
      this.#state.listener?.onMessage(opcode === WcOpcode.RECV ? bytes.subarray(0, byteLen) : NO_MESSAGE);
    } finally {
      this.receives.giveBack(receive);
    }
  }

  onReceiveError(cq: Cq): void {
    this.#loseBy(cq);
  }

  protected onDisconnected(): void {
    // Its owner watches the connection.
  }

  #loseBy(cq: Cq): void {
    this.#state.loseBy(this.engine, cq);
  }
}

function describe(qp: Qp, sent: Sent): void {
  if (sent === MESSAGE) qp.wrSend();
  else describeTransfer(qp, sent);
}
