import { VerbsError } from '../../../api/verbs/index.js';
import { BufferSupply, PeerProbes, type Engine, type Lease, type Prober, type SendQueue } from '../../core/index.js';
import { CloseReason, encodeFarewell, type Farewell } from '../protocol/farewell.js';
import { Kind } from '../protocol/kinds.js';
import { emptyFrame, type Frame, type OutgoingSide } from '../protocol/outgoing.js';
import { goneError, type MessageOperation, type Poster } from './operation.js';
import type { QueuedTransfer } from './transfer.js';

/** Requests of a connection that may be under way beside its receives. */
export const SEND_SLOTS = 16;
/** Longest payload that goes into the request itself. */
export const INLINE_BYTES = 256;
const NOTHING = new Uint8Array(0);

export interface OutboxParts {
  readonly engine: Engine;
  readonly owner: string;
  /** Its listener throws what it is refused. */
  readonly sends: SendQueue<Poster>;
  /** Device or queue pair are gone: nothing can be posted any more. */
  readonly onGone: (error: VerbsError) => void;
}

/**
 * What one end has to say and to do: messages as far as the protocol has credit for them, and transfers. It posts that as far as the
 * send queue and the pool have room, in the order of the calls, but for messages that wait for credit.
 */
export class Outbox implements Prober {
  readonly statistics = { messagesSent: 0, bytesSent: 0 };
  readonly #outgoing: OutgoingSide<MessageOperation>;
  readonly #onGone: (error: VerbsError) => void;
  readonly #sends: SendQueue<Poster>;
  readonly #supply: BufferSupply;
  readonly #probes: PeerProbes;
  readonly #frame = emptyFrame<MessageOperation>();
  readonly #transfers: QueuedTransfer[] = [];
  #orders = 0;
  #farewell: Uint8Array = NOTHING;
  #isPumping = false;
  /** Nothing can be posted any more. */
  #isGone = false;

  constructor(outgoing: OutgoingSide<MessageOperation>, { engine, sends, owner, onGone }: OutboxParts) {
    this.#outgoing = outgoing;
    this.#onGone = onGone;
    this.#sends = sends;
    this.#supply = new BufferSupply(engine.pool, owner, () => this.pump());
    this.#probes = new PeerProbes(engine, this);
  }

  /** Whether this end has said, or will say, farewell. */
  get isClosing(): boolean {
    return this.#outgoing.isClosing;
  }

  /** Messages and transfers that are not done. */
  get pending(): number {
    return this.#outgoing.queued + this.#transfers.length + SEND_SLOTS - this.#sends.room;
  }

  /** Whether nothing is under way, or ever will be. */
  get isIdle(): boolean {
    return this.#isGone || this.pending === 0;
  }

  /** Whether somebody waits for a request that is under way. */
  get isAwaited(): boolean {
    return this.#sends.kept().next().done === false;
  }

  get awaitsPeer(): boolean {
    return !this.#isGone && this.#outgoing.queued > 0;
  }

  nextOrder(): number {
    return (this.#orders += 1);
  }

  send(message: MessageOperation): void {
    this.#outgoing.add(message);
    this.pump();
  }

  /**
   * Asks the peer's adapter whether it is there, unless it is being asked something anyway: writes no bytes. That takes neither memory nor
   * credit, and the peer's adapter answers by itself, whatever its program does.
   */
  probe(): void {
    if (this.#isGone || !this.#sends.isEmpty) return;
    this.#post(() => {
      this.#sends.beginProbe();
      this.#sends.post();
    });
  }

  /** Takes a message back as far as it was not sent. */
  withdraw(message: MessageOperation): void {
    this.#outgoing.withdraw(message);
    this.pump();
  }

  /** Begins to read or write the peer's memory. */
  transfer(transfer: QueuedTransfer): void {
    this.#transfers.push(transfer);
    this.pump();
  }

  /** Takes a transfer out of the queue, as far as it was not posted. */
  drop(transfer: QueuedTransfer): void {
    const index = this.#transfers.indexOf(transfer);
    if (index >= 0) this.#transfers.splice(index, 1);
  }

  /** Drops what was not sent yet, and tells those who wait for it. */
  dropAll(told: Error): void {
    for (const message of this.#outgoing.drop()) message.reject(told);
    for (const transfer of this.#transfers.splice(0)) transfer.reject(told);
  }

  /** Says farewell, in place of what was not sent yet. */
  close(farewell: Farewell, told: Error): void {
    this.#farewell = encodeFarewell(withUnsent(farewell, this.#outgoing.queued));
    this.dropAll(told);
    this.#outgoing.close();
    this.pump();
  }

  /** The connection has ended: tells all who wait for anything. What is under way has yet to complete, or to be lost. */
  end(told: Error): void {
    this.#supply.end();
    this.#probes.end();
    this.dropAll(told);
    this.#outgoing.close();
    for (const poster of [...this.#sends.kept()]) poster.reject(told);
  }

  /** Nothing can be posted any more. */
  gone(): void {
    this.#isGone = true;
    this.#probes.end();
  }

  pump(): void {
    if (this.#isPumping || this.#isGone) return;
    this.#isPumping = true;
    try {
      this.#post(this.#postAll);
    } finally {
      this.#isPumping = false;
    }
    if (this.awaitsPeer) this.#probes.start();
  }

  /** Calls what posts, which fails only when device or queue pair are gone. */
  #post(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      this.#isGone = true;
      this.#onGone(error);
    }
  }

  readonly #postAll = (): void => {
    while (this.#sends.room > 0 && this.#postNext()) {
      // Each step posts one request.
    }
  };

  /** @throws VerbsError when the device is gone */
  #postNext(): boolean {
    const [transfer] = this.#transfers;
    const outgoing = this.#outgoing;
    const { ready } = outgoing;
    if (this.#transfers.length > 0 && (ready === undefined || transfer.order < ready.order))
      return this.#postTransfer(transfer);
    if (ready?.isLost === true) {
      outgoing.withdraw(ready);
      ready.reject(goneError(ready.call));
      return true;
    }
    const frame = this.#frame;
    if (!outgoing.next(frame)) return false;
    const { kind, message } = frame;
    if (message !== undefined && frame.byteLength > INLINE_BYTES) {
      const lease = this.#supply.take(frame.byteLength);
      if (lease === undefined) return false;
      this.#postCopied(frame, message, lease);
    } else this.#postInline(frame);
    outgoing.sent(frame);
    if (message !== undefined) this.#onPosted(message, kind === Kind.DATA);
    return true;
  }

  #postTransfer(transfer: QueuedTransfer): boolean {
    if (transfer.isLost) {
      this.#transfers.shift();
      transfer.reject(goneError(transfer.call));
      return true;
    }
    const { pooledBytes } = transfer;
    const lease = pooledBytes === 0 ? undefined : this.#supply.take(pooledBytes);
    if (pooledBytes > 0 && lease === undefined) return false;
    transfer.post(this.#sends, lease);
    if (transfer.isPosted) this.#transfers.shift();
    return true;
  }

  #onPosted(message: MessageOperation, isWhole: boolean): void {
    message.wasPosted(isWhole);
    if (!isWhole) return;
    this.statistics.messagesSent += 1;
    this.statistics.bytesSent += message.byteLength;
  }

  /** The payload goes into the request itself. */
  #postInline({ kind, immediate, message, offset, byteLength }: Frame<MessageOperation>): void {
    const qp = this.#sends.begin(message, undefined, true);
    if (qp === undefined) return;
    qp.wrSendImm(immediate);
    if (kind === Kind.CLOSE) qp.wrSetInlineData(this.#farewell);
    else if (message !== undefined && byteLength > 0) qp.wrSetInlineData(payload(message.bytes, offset, byteLength));
    this.#sends.post();
  }

  /** The payload goes by a buffer, so that the program's memory is not looked at afterwards. */
  #postCopied(
    { immediate, offset, byteLength }: Frame<MessageOperation>,
    message: MessageOperation,
    lease: Lease,
  ): void {
    lease.bytes.set(payload(message.bytes, offset, byteLength));
    const qp = this.#sends.begin(message, lease);
    if (qp === undefined) return;
    qp.wrSendImm(immediate);
    qp.wrSetSge(lease.lkey, lease.addr, byteLength);
    this.#sends.post();
  }
}

function payload(bytes: Uint8Array, offset: number, byteLength: number): Uint8Array {
  return byteLength === bytes.byteLength ? bytes : bytes.subarray(offset, offset + byteLength);
}

/** What the peer is told where messages are dropped: without that it would take what it has for all. */
function withUnsent(farewell: Farewell, unsent: number): Farewell {
  if (farewell.reason !== CloseReason.DONE || unsent === 0) return farewell;
  return { reason: CloseReason.FAILED, text: `it had ${unsent} messages left to send` };
}
