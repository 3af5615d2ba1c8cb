import { WcFlags, WcOpcode, WcStatus } from '../../../device/ibta/index.js';
import type { CmId, Connection } from '../../../api/rdmacm/index.js';
import type { Cq, VerbsError } from '../../../api/verbs/index.js';
import { engineOf, KeepAlive, type Lease, PeerProbes, RcEndpoint } from '../../core/index.js';
import { ClosedError, ProtocolError, RequestError } from '../errors.js';
import { CloseReason, decodeFarewell, type Farewell } from '../protocol/farewell.js';
import type { Hello } from '../protocol/hello.js';
import { Kind } from '../protocol/kinds.js';
import { Protocol } from '../protocol/protocol.js';
import { Inbox } from './inbox.js';
import type { MessageOperation, Poster } from './operation.js';
import { INLINE_BYTES, Outbox, SEND_SLOTS } from './outbox.js';

/** How a connection ends whose peer says nothing any more. */
function lost(): ClosedError {
  return new ClosedError('messages', 'ECONNRESET', 'the connection was lost: the peer has gone without a farewell');
}

/** What those are told whose requests ended with a connection. */
function closedBy(failure: Error | undefined): Error {
  if (failure instanceof ClosedError) return failure;
  if (failure === undefined) return new ClosedError('messages', 'ECONNRESET', 'the peer has closed the connection');
  return new ClosedError('messages', 'ECONNRESET', `the connection has ended: ${failure.message}`, { cause: failure });
}

/** What a peer's farewell means; undefined when it is just done. */
function failureOf({ reason, text }: Farewell): Error | undefined {
  switch (reason) {
    case CloseReason.DONE:
      return undefined;
    case CloseReason.FAILED:
      if (text !== '')
        return new ClosedError('messages', 'ECONNRESET', `the peer has closed the connection early: ${text}`);
      return new ClosedError('messages', 'ECONNRESET', "the peer's program has failed, and closed the connection");
    default:
      return new ProtocolError('messages', `the peer says that this end broke the protocol: ${text}`);
  }
}

const OWNER = 'verbena/messages';

/** What an endpoint tells whoever has made it. */
export interface EndpointListener {
  /** Nothing will be sent or received any more: for that reason, or because the peer is done. */
  onEnd(failure: Error | undefined): void;
}

/** How much a connection has carried. */
export interface Traffic {
  readonly messagesSent: number;
  readonly messagesReceived: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/**
 * One end of a connection at work: the protocol bound to a queue pair. It hands what comes to the inbox, has the outbox post what
 * is to be sent, and knows when all of that ends, and why.
 */
export class Endpoint extends RcEndpoint<Poster> {
  readonly inbox: Inbox;
  readonly outbox: Outbox;
  /** Told once, when nothing will be sent or received any more. */
  listener: EndpointListener | undefined;

  readonly #protocol: Protocol<MessageOperation>;
  readonly #keepAliveMs: number;
  #keepAlive: KeepAlive | undefined;
  /** Of a program that waits for a message. */
  #probes: PeerProbes | undefined;
  /** Completions: of probes, too. */
  #heard = 0;
  #arrived = 0;
  #messagesReceived = 0;
  #bytesReceived = 0;
  #peer: Hello | undefined;
  #failure: Error | undefined;
  /** The peer has said farewell, for that reason or because it is done, and may yet acknowledge what was posted. */
  #parting: { readonly failure: Error | undefined } | undefined;
  readonly #whenIdle: (() => void)[] = [];

  /** @throws VerbsError ENOMEM when there is no room for its requests, or there are no buffers for the receives that it promises */
  constructor(id: CmId, own: Hello, keepAliveMs = Infinity) {
    super(engineOf(id), id, {
      owner: OWNER,
      sends: SEND_SLOTS,
      receives: own.window,
      maxReceives: own.maxWindow,
      bufferBytes: own.bufferBytes,
      spare: 1,
      inlineBytes: INLINE_BYTES,
      maxSendSge: 1,
    });
    this.#protocol = new Protocol(own);
    this.#keepAliveMs = keepAliveMs;
    const { engine, sends } = this;
    const onGone = (error: VerbsError): void => this.end(error);
    this.outbox = new Outbox(this.#protocol.outgoing, { engine, sends, owner: OWNER, onGone });
    this.inbox = new Inbox(this);
  }

  /** What the peer said of itself; undefined before {@link begin}. */
  get peer(): Hello | undefined {
    return this.#peer;
  }

  /** Why it has ended; undefined while it has not, and when the peer or this end was just done. */
  get failure(): Error | undefined {
    return this.#failure ?? this.#parting?.failure;
  }

  /** Whether an end has said, or will say, farewell. */
  get isClosing(): boolean {
    return this.outbox.isClosing || this.#parting !== undefined;
  }

  get hasEnded(): boolean {
    return !this.isActive;
  }

  /** Buffers that peers may fill now. */
  get window(): number {
    return this.#protocol.incoming.credits.window;
  }

  get traffic(): Traffic {
    const { statistics } = this.outbox;
    return { ...statistics, messagesReceived: this.#messagesReceived, bytesReceived: this.#bytesReceived };
  }

  /** The connection is there, and this is what the peer said of itself. */
  begin(peer: Hello, connection: Connection): void {
    this.#peer = peer;
    this.#protocol.begin(peer);
    this.opened();
    // An early farewell has ended it.
    if (this.isActive) this.#watch();
    this.outbox.pump();
    this.attach(connection);
  }

  /** Calls `action` once everything that was begun has ended in one way or the other. */
  whenIdle(action: () => void): void {
    this.#whenIdle.push(action);
    this.#tellIfIdle();
  }

  /** Something that was begun was given up, and may have been the last. */
  gaveUp(): void {
    this.#tellIfIdle();
  }

  /** Says farewell; what was not sent yet is dropped, and whoever waits for it is told `failure`. */
  close(farewell: Farewell, failure: Error): void {
    this.outbox.close(farewell, failure);
  }

  /**
   * Nothing is sent or received any more. What has come can still be taken.
   *
   * @param failure none when an end is done
   * @param told what those are told whose requests are under way
   */
  end(failure: Error | undefined, told = closedBy(failure)): void {
    // A peer may connect, talk and leave before this program has noticed: its messages are delivered first.
    if (this.defer(() => this.end(failure, told)) || !this.drain()) return;
    // Once this end has said that it is done, the peer may go without a farewell of its own.
    this.#failure = failure instanceof ClosedError && this.outbox.isClosing ? undefined : failure;
    this.#keepAlive?.end();
    this.#probes?.end();
    this.outbox.end(told);
    this.inbox.end(this.#failure);
    this.#tellIfIdle();
    this.listener?.onEnd(this.#failure);
  }

  protected onDisconnected(): void {
    this.#lose(this.engine.failure ?? lost());
  }

  override destroyed(): void {
    this.outbox.gone();
    super.destroyed();
    this.#tellIfIdle();
  }

  onDone(poster: Poster | undefined, lease: Lease | undefined): void {
    poster?.onDone(lease);
    this.#endIfAnswered();
    this.#completed();
  }

  onFailed(poster: Poster | undefined, _: Lease | undefined, cq: Cq | undefined): void {
    if (cq === undefined) {
      this.onReceiveLost();
      poster?.onFailed(closedBy(this.#failure));
      return;
    }
    const error =
      this.#failure ?? (this.#parting === undefined ? this.#requestError(cq) : closedBy(this.#parting.failure));
    poster?.onFailed(error);
    this.#lose(error);
    this.#completed();
  }

  onRefused(error: VerbsError): never {
    throw error;
  }

  onMessage(receive: number, buffer: Uint8Array, cq: Cq): void {
    this.#arrived += 1;
    const { immData, byteLen } = cq;
    const bytes = buffer.subarray(0, byteLen);
    if (cq.opcode !== WcOpcode.RECV || (cq.wcFlags & WcFlags.WITH_IMM) === 0) {
      this.receives.release(receive);
      this.#distrust('a message came without immediate data, or by a WRITE');
    } else if (this.state === 'connecting') this.defer(() => this.#take(receive, immData, bytes));
    else this.#take(receive, immData, bytes);
    this.#completed();
  }

  onReceiveError(cq: Cq): void {
    const { status } = cq;
    if (status === WcStatus.WR_FLUSH_ERR) this.#lose(lost());
    else if (status === WcStatus.LOC_LEN_ERR) this.#distrust('a message is longer than the buffers of this end');
    else this.end(this.#requestError(cq));
    this.#completed();
  }

  override onReceiveRefused(error: VerbsError): void {
    this.outbox.gone();
    this.end(error);
  }

  onReceiveLost(): void {
    this.outbox.gone();
    this.end(this.#failure ?? this.engine.failure ?? lost());
  }

  awaited(): void {
    this.#probes?.start();
  }

  /** An idle connection is probed after one to two halves of the period. One whose program waits for a message is probed sooner, but ever more seldom. */
  #watch(): void {
    if (this.#keepAliveMs === Infinity) return;
    const periodMs = this.#keepAliveMs / 2;
    const heard = (): number => this.#heard;
    const arrived = (): number => this.#arrived;
    const isAwaited = (): boolean => this.inbox.isAwaited;
    const probe = (): void => this.outbox.probe();
    this.#keepAlive = KeepAlive.endless(this.engine, periodMs, { heard, probe });
    const waiting = {
      get awaitsPeer() {
        return isAwaited();
      },
      get heard() {
        return arrived();
      },
      probe,
    };
    this.#probes = new PeerProbes(this.engine, waiting, periodMs);
    if (isAwaited()) this.#probes.start();
  }

  #completed(): void {
    this.#heard += 1;
    this.outbox.pump();
    this.#tellIfIdle();
  }

  #take(receive: number, immediate: number, bytes: Uint8Array): void {
    const byteLength = bytes.length;
    if (!this.isActive) {
      this.receives.release(receive);
      return;
    }
    const { incoming } = this.#protocol;
    const kind = this.#protocol.onMessage(immediate, byteLength);
    if (kind === undefined) {
      this.receives.release(receive);
      this.#distrust(incoming.lie);
      return;
    }
    if (kind === Kind.CLOSE) {
      const farewell = decodeFarewell(bytes);
      this.receives.release(receive);
      this.#onFarewell(failureOf(farewell));
      return;
    }
    if (kind === Kind.CREDIT) {
      this.taken(receive);
    } else {
      this.#bytesReceived += byteLength;
      if (kind === Kind.DATA) this.#messagesReceived += 1;
      this.inbox.push(kind, receive, bytes);
    }
    const { growth } = incoming;
    const added = growth > 0 ? this.receives.widen(growth) : 0;
    if (added > 0) incoming.widened(added);
  }

  /**
   * The peer sends nothing more. It may have what was posted all the same: acknowledgements come apart from what it says. So it is
   * answered once all of that is acknowledged, and waits for the answer before it disconnects.
   */
  #onFarewell(failure: Error | undefined): void {
    this.outbox.dropAll(closedBy(failure));
    this.inbox.end(failure);
    this.#parting = { failure };
    this.#endIfAnswered();
  }

  /** After the peer's farewell nothing is left to do but to wait for what was posted. */
  #endIfAnswered(): void {
    if (this.#parting === undefined || !this.isActive || this.outbox.isAwaited) return;
    this.end(this.#parting.failure);
  }

  /** Nothing is carried out any more. @param failure why, unless the peer has said farewell before */
  #lose(failure: Error): void {
    this.end(this.#parting === undefined ? failure : this.#parting.failure);
  }

  taken(receive: number): void {
    if (!this.isActive) {
      this.receives.release(receive);
      return;
    }
    if (!this.receives.giveBack(receive)) return;
    this.#protocol.incoming.credits.replenish();
    this.outbox.pump();
  }

  /** The peer has lied: it is told so, and nothing of it counts any more. */
  #distrust(lie: string): void {
    const error = new ProtocolError('messages', `the peer broke the protocol: ${lie}`);
    if (this.isActive) this.close({ reason: CloseReason.PROTOCOL, text: lie }, closedBy(error));
    this.end(error);
  }

  #requestError(cq: Cq): Error {
    return new RequestError('messages', cq.status, this.engine.context.explain(cq.workCompletion()));
  }

  #tellIfIdle(): void {
    if (this.#whenIdle.length === 0 || !this.outbox.isIdle) return;
    for (const tell of this.#whenIdle.splice(0)) tell();
  }
}
