import {
  ackTimeoutUs,
  EventType,
  type EventType as EventTypeValue,
  MigState,
  type QpAttr,
  type QpCap,
  QpState,
  type QpType,
  Syndrome,
} from '../spec/index.js';
import { createPath, type Path } from '../wire/index.js';
import { Completer } from './reliable/completer.js';
import type { CompletionQueue } from './queues/completion-queue.js';
import { CongestionWindow } from './reliable/congestion-window.js';
import { type NicCore, Served } from './nic-core.js';
import type { PacketOrigin } from './packet-builder.js';
import { Requester } from './reliable/requester.js';
import { Responder } from './reliable/responder.js';
import { SendWindow } from './reliable/send-window.js';
import type { WorkQueue } from './queues/work-queue.js';

/** What a queue pair is made of. */
export interface QueuePairParts {
  readonly qpn: number;
  readonly type: QpType;
  readonly pd: number;
  readonly sendCq: CompletionQueue;
  readonly recvCq: CompletionQueue;
  readonly cap: QpCap;
  readonly sqSigAll: boolean;
  readonly sq: WorkQueue;
  readonly rq: WorkQueue;
}

const NO_GID = new Uint8Array(16);
const NOWHERE = createPath({ sgid: NO_GID, dgid: NO_GID });
/** The partition that every RoCE port belongs to (PROTOCOL.md 1.1). */
const DEFAULT_PKEY = 0xffff;

function initialAttributes(cap: QpCap): QpAttr {
  const noAddress = { dlid: 0, sl: 0, srcPathBits: 0, staticRate: 0, isGlobal: false, portNum: 0 };
  return {
    qpState: QpState.RESET,
    curQpState: QpState.RESET,
    pathMtu: 1,
    pathMigState: MigState.MIGRATED,
    qkey: 0,
    rqPsn: 0,
    sqPsn: 0,
    destQpNum: 0,
    qpAccessFlags: 0,
    cap,
    ahAttr: noAddress,
    altAhAttr: noAddress,
    pkeyIndex: 0,
    altPkeyIndex: 0,
    enSqdAsyncNotify: 0,
    sqDraining: 0,
    maxRdAtomic: 0,
    maxDestRdAtomic: 0,
    minRnrTimer: 0,
    portNum: 0,
    timeout: 0,
    retryCnt: 0,
    rnrRetry: 0,
    altPortNum: 0,
    altTimeout: 0,
    rateLimit: 0,
  };
}

/** One RC queue pair: its attributes, its state machine (PROTOCOL.md 2.9), and the two halves that do the work. */
export class QueuePair implements PacketOrigin, QueuePairParts {
  readonly qpn: number;
  readonly type: QpType;
  readonly pd: number;
  readonly sendCq: CompletionQueue;
  readonly recvCq: CompletionQueue;
  readonly cap: QpCap;
  readonly sqSigAll: boolean;
  readonly sq: WorkQueue;
  readonly rq: WorkQueue;

  attr: QpAttr;
  state: QpState = QpState.RESET;
  path: Path = NOWHERE;
  readonly pkey = DEFAULT_PKEY;
  mtuBytes = 256;
  ackTimeoutUs = Infinity;
  /** Packets that one request of a READ asks for; see the requester. */
  readPiecePackets = 1;
  congestion = new CongestionWindow(256);

  readonly window: SendWindow;
  readonly requester: Requester;
  readonly completer: Completer;
  readonly responder: Responder;
  /** Whether it stands in the NIC's queue of those that have something to send. */
  scheduled = false;

  /** The peer's address, word by word, for a check at every packet. */
  readonly #peer = new Int32Array(4);
  #errorCause: Syndrome = Syndrome.NONE;
  #drainNotice = false;
  #heardFromPeer = false;

  constructor(
    parts: QueuePairParts,
    private readonly core: NicCore,
    /** Its number in the timer wheel. */
    readonly timerId: number,
  ) {
    this.qpn = parts.qpn;
    this.type = parts.type;
    this.pd = parts.pd;
    this.sendCq = parts.sendCq;
    this.recvCq = parts.recvCq;
    this.cap = parts.cap;
    this.sqSigAll = parts.sqSigAll;
    this.sq = parts.sq;
    this.rq = parts.rq;
    this.attr = initialAttributes(parts.cap);
    this.window = new SendWindow(this.sq);
    this.completer = new Completer(this, core);
    this.requester = new Requester(this, core);
    this.responder = new Responder(this, core);
    this.#publish(QpState.RESET);
  }

  get destQpn(): number {
    return this.attr.destQpNum;
  }

  get maxInlineBytes(): number {
    return this.cap.maxInlineData;
  }

  /** Whether requests may leave: SQD lets those that were started finish. */
  get maySend(): boolean {
    return this.state === QpState.RTS || this.state === QpState.SQD;
  }

  get mayStart(): boolean {
    return this.state === QpState.RTS;
  }

  /** Whether requests of the peer are executed. */
  get mayReceive(): boolean {
    return this.state === QpState.RTR || this.maySend;
  }

  /** Whether a packet comes from the one address that this QP is connected to. */
  isPeer(sourceWords: Int32Array): boolean {
    const peer = this.#peer;
    return (
      peer[0] === sourceWords[0] &&
      peer[1] === sourceWords[1] &&
      peer[2] === sourceWords[2] &&
      peer[3] === sourceWords[3]
    );
  }

  /** A packet of the peer was accepted. */
  onHeard(): void {
    if (this.#heardFromPeer) return;
    this.#heardFromPeer = true;
    if (this.state === QpState.RTR) this.raise(EventType.COMM_EST);
  }

  /** Takes new attributes and the state they lead to; the caller has checked that they may be taken. */
  modify(changes: Partial<QpAttr>, path: Path | undefined, mtuBytes: number): void {
    const from = this.state;
    const to = changes.qpState ?? from;
    this.attr = { ...this.attr, ...changes, qpState: to };
    if (path !== undefined) {
      this.path = path;
      this.#peer.set(new Int32Array(Uint8Array.from(path.dgid).buffer));
    }
    if (changes.pathMtu !== undefined) this.mtuBytes = mtuBytes;
    if (changes.timeout !== undefined) this.ackTimeoutUs = ackTimeoutUs(changes.timeout);
    if (to === QpState.RESET) this.#reset();
    else if (to === QpState.ERR) this.enterError(Syndrome.NONE);
    else {
      if (from === QpState.INIT && to === QpState.RTR) this.responder.reset(this.attr.rqPsn, this.attr.maxDestRdAtomic);
      else if (changes.maxDestRdAtomic !== undefined) this.responder.resize(this.attr.maxDestRdAtomic);
      if (from === QpState.RTR && to === QpState.RTS) this.#startSending();
      else if (changes.maxRdAtomic !== undefined && !this.window.busy) this.#sizeReads();
      if (from === QpState.RTS && to === QpState.SQD) this.#drainNotice = this.attr.enSqdAsyncNotify !== 0;
      this.#publish(to);
      if (to === QpState.SQD && !this.window.busy) this.onSendIdle();
    }
    this.core.schedule(this);
  }

  query(): QpAttr {
    const draining = this.state === QpState.SQD && this.window.busy ? 1 : 0;
    return { ...this.attr, qpState: this.state, curQpState: this.state, sqDraining: draining };
  }

  /**
   * Sends what is due: responses first, for a peer waits on them. The acknowledgement goes last: it is short, and behind
   * packets of this QP it can leave by the same system call.
   */
  transmit(budget: number): Served {
    const answered = this.responder.sender.transmit(budget);
    if (answered !== Served.IDLE) return answered;
    const asked = this.requester.transmit(budget);
    const acknowledged = this.responder.sender.transmitAcknowledgement();
    return acknowledged === Served.BLOCKED ? acknowledged : asked;
  }

  /** The driver posted send requests. */
  onDoorbell(): void {
    this.sq.clearDoorbell();
    if (this.state === QpState.ERR) this.#flush(this.#errorCause);
    else this.core.schedule(this);
  }

  /** Every request that was started is complete. */
  onSendIdle(): void {
    if (this.state !== QpState.SQD || !this.#drainNotice) return;
    this.#drainNotice = false;
    this.raise(EventType.SQ_DRAINED);
  }

  /** Moves to ERR and completes all that is posted as flushed (PROTOCOL.md 2.9). */
  enterError(cause: Syndrome): void {
    if (this.state === QpState.ERR) return;
    this.attr = { ...this.attr, qpState: QpState.ERR };
    this.#errorCause = cause;
    // Before the queues are looked at: a post that comes after sees ERR and rings.
    this.#publish(QpState.ERR);
    this.#flush(cause);
  }

  /** A completion of this QP was lost: whatever its owner believes about it is wrong from here on (PROTOCOL.md 3.8). */
  onCqOverrun(): void {
    if (this.state === QpState.RESET || this.state === QpState.ERR) return;
    this.enterError(Syndrome.CQ_OVERRUN);
    this.raise(EventType.QP_FATAL);
  }

  /** The QP is destroyed: nothing of it may be sent or completed any more. */
  retire(): void {
    this.#reset();
  }

  raise(type: EventTypeValue): void {
    this.core.events.asyncEvent({ type, qpn: this.qpn });
  }

  #flush(cause: Syndrome): void {
    this.completer.flush(cause);
    this.responder.flush(cause);
  }

  #reset(): void {
    this.#publish(QpState.RESET);
    this.sq.discard();
    this.rq.discard();
    this.window.reset(0);
    this.completer.reset();
    this.responder.reset(0, 0);
    this.core.timers.clear(this.timerId);
    this.#heardFromPeer = false;
    this.#drainNotice = false;
    this.attr = initialAttributes(this.cap);
  }

  #startSending(): void {
    this.congestion = new CongestionWindow(this.mtuBytes);
    this.#sizeReads();
    this.window.reset(this.attr.sqPsn);
    this.completer.reset();
  }

  /** With two READ requests in flight one can be answered while the other is asked for. */
  #sizeReads(): void {
    const pieces = this.attr.maxRdAtomic > 1 ? 2 : 1;
    this.readPiecePackets = Math.max(1, Math.floor(this.congestion.ceiling / pieces));
  }

  #publish(state: QpState): void {
    this.state = state;
    this.sq.publishState(state);
    this.rq.publishState(state);
  }
}
