import {
  EventType,
  type EventType as EventTypeValue,
  MigState,
  type QpAttr,
  type QpView,
  type QpCap,
  QpState,
  type QpType,
  Syndrome,
} from '../../ibta/index.js';
import { createPath, OpcodeBit, opcodeBits, OpcodeService, type PacketMeta, type Path } from '../../wire/index.js';
import { type PeerFacts, RNR_RETRY_INFINITE } from '../../stand-in/index.js';
import type { ParkedPacket } from '../memory/copying/parked-packets.js';
import { QpCopies, type Side } from '../memory/copying/qp-copies.js';
import type { NicCore } from '../nic-core.js';
import { CNP_INTERVAL_US, sendCongestionNotification } from '../port/congestion-notification.js';
import type { CompletionCounter } from '../queues/completion-counter.js';
import type { CompletionQueue } from '../queues/completion-queue.js';
import type { Doorbells } from '../queues/doorbells.js';
import type { SharedReceiveQueue } from '../queues/shared-receive-queue.js';
import type { QueuePairWatcher } from '../queues/watchers.js';
import type { WorkQueue } from '../queues/work-queue.js';
import type { ReceivingHalf, SendingHalf, TransportService } from './halves.js';
import type { FailedRequest, QpContext } from './qp-context.js';
import { opcodeClass } from './request-kinds.js';
import { PendingWork, TransmitResult } from './turns.js';

export interface QueuePairParts {
  readonly qpn: number;
  readonly type: QpType;
  /** 0 when it has none: an XRC target QP uses the domains of its shared receive queues (protocol/services.md 3.3). */
  readonly pd: number;
  /** 0 when it is in no XRC domain. */
  readonly xrcd: number;
  readonly sendCq: CompletionQueue;
  readonly recvCq: CompletionQueue;
  readonly srq: SharedReceiveQueue | undefined;
  readonly cap: QpCap;
  readonly createFlags: number;
  readonly sqSigAll: boolean;
  readonly sq: WorkQueue;
  readonly rq: WorkQueue;
  readonly doorbells: Doorbells | undefined;
}

/** What Linux's `rdma resource show qp` tells of a queue pair. */
export interface ShownQp {
  readonly qpn: number;
  /** 0 where it has no single peer. */
  readonly destQpn: number;
  readonly type: QpType;
  readonly state: QpState;
  readonly rqPsn: number;
  readonly sqPsn: number;
  readonly pathMigState: MigState;
  /** Number of its protection domain; 0 where it has none. */
  readonly pd: number;
  /** As `Qp.counters`. */
  readonly counters: Readonly<Record<string, number>>;
}

const NO_GID = new Uint8Array(16);
const NOWHERE = createPath({ sgid: NO_GID, dgid: NO_GID });

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

/** One queue pair: its attributes, its state machine (protocol/reliable.md 2.9), and the two halves that do the work. */
export class QueuePair implements QpContext, QueuePairParts {
  readonly qpn: number;
  readonly type: QpType;
  readonly pd: number;
  readonly xrcd: number;
  readonly sendCq: CompletionQueue;
  readonly recvCq: CompletionQueue;
  readonly srq: SharedReceiveQueue | undefined;
  readonly cap: QpCap;
  readonly createFlags: number;
  readonly sqSigAll: boolean;
  readonly sq: WorkQueue;
  readonly rq: WorkQueue;
  readonly doorbells: Doorbells | undefined;

  readonly service: OpcodeService | undefined;
  readonly opcodeClass: number;
  readonly connected: boolean;
  readonly responds: boolean;
  readonly sending: SendingHalf;
  readonly receiving: ReceivingHalf;

  attr: QpAttr;
  state: QpState = QpState.RESET;
  path: Path = NOWHERE;
  pkey: number;
  mtuBytes: number;
  scheduled = false;
  due = 0;
  way = 0;
  held = false;
  mayPass = false;
  peerRow = 0;

  copies: QpCopies | undefined;
  remoteWrites: CompletionCounter | undefined;

  /** The way by which the last packet of the peer came (`PacketMeta.way`), or 0. */
  peerWay = 0;
  /** The peer: its QP number, and its address word by word, for a check at every packet. */
  destQpn = 0;
  #peer0 = 0;
  #peer1 = 0;
  #peer2 = 0;
  #peer3 = 0;
  #watcher: QueuePairWatcher | undefined;
  #errorCause: Syndrome = Syndrome.NONE;
  #drainNotice = false;
  #heardFromPeer = false;
  /** When the peer was last told of congestion. */
  #notifiedUs = -Infinity;
  /** How often the peer repeats a request after RNR NAKs; -1: nobody has said. */
  #peerRnrRetry = -1;

  constructor(
    parts: QueuePairParts,
    transport: TransportService,
    private readonly core: NicCore,
    readonly timerId: number,
  ) {
    this.qpn = parts.qpn;
    this.type = parts.type;
    this.pd = parts.pd;
    this.xrcd = parts.xrcd;
    this.sendCq = parts.sendCq;
    this.recvCq = parts.recvCq;
    this.srq = parts.srq;
    this.cap = parts.cap;
    this.createFlags = parts.createFlags;
    this.sqSigAll = parts.sqSigAll;
    this.sq = parts.sq;
    this.rq = parts.rq;
    this.doorbells = parts.doorbells;
    this.service = transport.service;
    this.opcodeClass = transport.service === undefined ? 0 : opcodeClass(transport.service);
    this.connected = transport.connected;
    this.responds = transport.responds;
    this.attr = initialAttributes(parts.cap);
    this.pkey = core.port.pkey(0);
    this.mtuBytes = core.port.mtuBytes;
    this.sending = transport.requester(this, core);
    this.receiving = transport.responder(this, core);
    this.#publish(QpState.RESET);
  }

  watch(watcher: QueuePairWatcher): void {
    this.#watcher = watcher;
    this.sq.watcher = watcher.send;
    this.rq.watcher = watcher.receive;
  }

  get maxInlineBytes(): number {
    return this.cap.maxInlineData;
  }

  get isDueToSend(): boolean {
    return this.scheduled && (this.due & PendingWork.SENDING) !== 0;
  }

  get maySend(): boolean {
    return this.state === QpState.RTS || this.state === QpState.SQD;
  }

  get mayStart(): boolean {
    return this.state === QpState.RTS;
  }

  get mayReceive(): boolean {
    return this.state === QpState.RTR || this.maySend || this.state === QpState.SQE;
  }

  /** Whether a packet comes from the one address that this QP is connected to. */
  isPeer(sourceWords: Int32Array): boolean {
    return (
      this.#peer3 === sourceWords[3] &&
      this.#peer2 === sourceWords[2] &&
      this.#peer1 === sourceWords[1] &&
      this.#peer0 === sourceWords[0]
    );
  }

  /** A packet of the peer was accepted. */
  onHeard(): void {
    if (this.#heardFromPeer) return;
    this.#heardFromPeer = true;
    this.core.events.heard?.(this.qpn);
    if (this.state === QpState.RTR) this.raise(EventType.COMM_EST);
  }

  /** A packet of the peer came marked; `bits` are those of its opcode. The peer is notified, not too often. */
  onMarked(bits: number): void {
    const { core } = this;
    core.counters.npEcnMarkedRocePackets += 1;
    if ((bits & OpcodeBit.PAYLOAD) === 0) return;
    // The requester decides how much of an answer comes at a time.
    if ((bits & OpcodeBit.RESPONSE) !== 0) this.sending.onCongestion?.(false);
    if (core.nowUs - this.#notifiedUs < CNP_INTERVAL_US) return;
    this.#notifiedUs = core.nowUs;
    core.schedule(this, PendingWork.NOTIFYING);
  }

  /**
   * Takes a request packet that was found to belong to it, or a frame, which has no `meta`. While one waits for memory, those that
   * come behind it wait as well.
   */
  onRequest(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta | undefined): void {
    if (this.copies?.requests.waiting !== true) {
      if (meta === undefined) this.receiving.onFrame(bytes, offset, lengthBytes);
      else this.receiving.onRequest(bytes, offset, lengthBytes, meta);
    }
    if (this.copies?.requests.waiting === true) this.#park('requests', bytes, offset, lengthBytes, meta);
  }

  /** The same of an acknowledgement or a response; `bits` are those of its opcode. */
  onResponse(bytes: Uint8Array, offset: number, lengthBytes: number, bits: number, meta: PacketMeta): void {
    if (this.copies?.responses.waiting !== true) this.sending.onResponse(bytes, offset, lengthBytes, bits, meta);
    if (this.copies?.responses.waiting === true) this.#park('responses', bytes, offset, lengthBytes, meta);
  }

  /** Takes new attributes and the state they lead to; the caller has checked them. `cause` is the reason for a move to ERR. */
  modify(changes: Partial<QpAttr>, path: Path | undefined, mtuBytes: number, cause: Syndrome): void {
    const from = this.state;
    const to = changes.qpState ?? from;
    this.attr = { ...this.attr, ...changes, qpState: to };
    if (path !== undefined) {
      this.core.unhold(this);
      this.path = path;
      [this.#peer0, this.#peer1, this.#peer2, this.#peer3] = new Int32Array(Uint8Array.from(path.dgid).buffer);
    }
    this.destQpn = this.attr.destQpNum;
    if (changes.pathMtu !== undefined) this.mtuBytes = mtuBytes;
    this.refreshPkey();
    if (to === QpState.RTR && this.#isReliable && this.peerRow === 0) this.peerRow = this.core.peers.open(this.#facts);
    else this.core.peers.write(this.peerRow, this.#facts);
    if (to === QpState.RESET) this.#reset();
    else if (to === QpState.ERR) this.enterError(cause);
    else {
      if (from === QpState.INIT && to === QpState.RTR) this.receiving.start();
      else this.receiving.onAttributes(changes);
      if (from === QpState.RTR && to === QpState.RTS) this.sending.start();
      else this.sending.onAttributes(changes);
      if (from === QpState.RTS && to === QpState.SQD) this.#drainNotice = this.attr.enSqdAsyncNotify !== 0;
      // What was posted in SQE is flushed, whether or not its doorbell was heard in time (protocol/reliable.md 2.9).
      if (from === QpState.SQE && to === QpState.RTS) this.sending.flush(this.#errorCause);
      this.#publish(to);
      if (to === QpState.SQD && !this.sending.busy) this.onSendIdle();
    }
    this.#limitRnrRetries();
    this.core.schedule(this, PendingWork.BOTH);
  }

  query(): QpAttr {
    const draining = this.state === QpState.SQD && this.sending.busy ? 1 : 0;
    return { ...this.attr, qpState: this.state, curQpState: this.state, sqDraining: draining };
  }

  /** For `rdma resource show qp`. */
  show(): ShownQp {
    const { qpn, type, state, pd, attr } = this;
    const { destQpNum, rqPsn, sqPsn, pathMigState } = attr;
    return { qpn, destQpn: destQpNum, type, state, rqPsn, sqPsn, pathMigState, pd, counters: this.counters() };
  }

  /** Counters of its halves; none where requests are not answered. */
  counters(): Record<string, number> {
    return { ...this.sending.counters?.(), ...this.receiving.counters?.() };
  }

  /** For whoever explains what its peer, or its program, has met. */
  view(): QpView {
    const { destQpNum, rqPsn, sqPsn } = this.attr;
    const { refusal, drops } = this.receiving;
    return { state: this.state, destQpNum, rqPsn, sqPsn, refusal, drops };
  }

  get errorCause(): Syndrome {
    return this.#errorCause;
  }

  openCopies(): QpCopies {
    const { core } = this;
    this.copies ??= new QpCopies(core.copyEngine, {
      toSend: () => core.schedule(this, PendingWork.SENDING),
      toAnswer: () => core.schedule(this, PendingWork.RECEIVING),
      toTakeRequests: () => this.#takeUp('requests'),
      toTakeResponses: () => this.#takeUp('responses'),
    });
    return this.copies;
  }

  /** Looks its P_Key up again: the port's table, or its own index, has changed. */
  refreshPkey(): void {
    this.pkey = this.core.port.pkey(this.attr.pkeyIndex);
  }

  /** How often the peer repeats a request after RNR NAKs, as the connection manager has told it. */
  set peerRnrRetry(rnrRetry: number) {
    this.#peerRnrRetry = rnrRetry;
    this.#limitRnrRetries();
  }

  get #isReliable(): boolean {
    return this.responds && (this.service === OpcodeService.RC || this.service === OpcodeService.XRC);
  }

  /** As a stand-in needs them. */
  get #facts(): PeerFacts {
    const { qpn, destQpn, service = 0, pkey, path } = this;
    return { qpn, destQpn, service, pkey, peer: path.dgid, own: path.sgid };
  }

  /** Where nobody has said it, both ends have probably been given the same attributes. */
  #limitRnrRetries(): void {
    const { peerRow, state, attr } = this;
    const likely = state === QpState.RTS ? attr.rnrRetry : RNR_RETRY_INFINITE;
    this.core.peers.limitRnrRetries(peerRow, this.#peerRnrRetry < 0 ? likely : this.#peerRnrRetry);
  }

  /**
   * Sends what is due: responses first, since a peer waits for them. The acknowledgement goes last: it is short, and behind
   * packets of this QP it can leave by the same system call.
   */
  transmit(budget: number): TransmitResult {
    if ((this.due & PendingWork.NOTIFYING) !== 0 && !this.#notify()) return TransmitResult.BLOCKED;
    const { due } = this;
    const answers = (due & PendingWork.RECEIVING) !== 0;
    if (answers) {
      const answered = this.receiving.transmit(budget);
      if (answered !== TransmitResult.IDLE) return answered;
    }
    this.due = 0;
    const asked = (due & PendingWork.SENDING) === 0 ? TransmitResult.IDLE : this.sending.transmit(budget);
    if (asked !== TransmitResult.IDLE) this.due |= PendingWork.SENDING;
    if (!answers || this.receiving.transmitAcknowledgement() !== TransmitResult.BLOCKED) return asked;
    this.due |= PendingWork.RECEIVING;
    return TransmitResult.BLOCKED;
  }

  /** @returns false when the sink is full */
  #notify(): boolean {
    if (this.mayReceive) {
      if (!sendCongestionNotification(this.core.builder, this)) return false;
      this.core.counters.npCnpSent += 1;
    }
    this.due &= ~PendingWork.NOTIFYING;
    return true;
  }

  /** The driver posted send requests, or in ERR receive requests. */
  onDoorbell(): void {
    this.sq.clearDoorbell();
    if (this.state === QpState.ERR) this.#flush(this.#errorCause);
    else if (this.state === QpState.SQE) this.sending.flush(this.#errorCause);
    else this.core.schedule(this, PendingWork.SENDING);
  }

  onSendIdle(): void {
    if (this.state !== QpState.SQD || !this.#drainNotice) return;
    this.#drainNotice = false;
    this.raise(EventType.SQ_DRAINED);
  }

  enterError(cause: Syndrome, failed?: FailedRequest): void {
    if (this.state === QpState.ERR) return;
    this.#stop(QpState.ERR, cause);
    this.#stopCopies();
    if (failed !== undefined) this[failed.half].completeFailed(failed);
    this.#flush(cause);
    // It takes nothing more from the shared queue (protocol/services.md 3.4).
    if (this.srq !== undefined) this.raise(EventType.QP_LAST_WQE_REACHED);
  }

  enterSendQueueError(failed: FailedRequest): void {
    if (!this.maySend) return;
    this.#stop(QpState.SQE, failed.syndrome);
    this.copies?.sending.drop();
    this.sending.completeFailed(failed);
    this.sending.flush(failed.syndrome);
  }

  /** A completion of this QP was lost: its owner can no longer know its state (protocol/services.md 3.8). */
  onCqOverrun(): void {
    if (this.state === QpState.RESET || this.state === QpState.ERR) return;
    this.enterError(Syndrome.CQ_OVERRUN);
    this.raise(EventType.QP_FATAL);
  }

  onDeviceLost(): void {
    if (this.state === QpState.RESET) return;
    this.enterError(Syndrome.DEVICE_FATAL);
  }

  /** The QP is destroyed: nothing of it may be sent or completed any more, and its rings may become another's. */
  retire(): void {
    this.#reset();
    this.sq.detach();
    this.rq.detach();
  }

  raise(type: EventTypeValue, why: Syndrome = Syndrome.NONE): void {
    this.core.events.asyncEvent({ type, qpn: this.qpn, why });
  }

  #stop(state: typeof QpState.ERR | typeof QpState.SQE, cause: Syndrome): void {
    this.attr = { ...this.attr, qpState: state };
    this.#errorCause = cause;
    // Before the queues are looked at: a post that comes after sees the state and rings. And before the completion of the request
    // that failed: who polls that may ask for the state at once.
    this.#publish(state);
  }

  #flush(cause: Syndrome): void {
    this.#stopCopies();
    this.sending.flush(cause);
    this.receiving.flush(cause);
  }

  #park(side: Side, bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta | undefined): void {
    const parked = this.copies?.[side].parked.add(bytes, offset, lengthBytes, meta);
    if (parked !== true) this.core.counters.rxMemoryBusy += 1;
  }

  /** Memory is ready: takes up the packets that waited, until one waits again. */
  #takeUp(side: Side): void {
    const waiting = this.openCopies()[side];
    const { parked } = waiting;
    for (let packet = parked.first; packet !== undefined; packet = parked.first) {
      this.#takeParked(side, packet);
      // Of a queue pair that has ended nothing is left there.
      if (waiting.waiting || parked.first !== packet) return;
      parked.removeFirst();
    }
  }

  #takeParked(side: Side, { bytes, meta }: ParkedPacket): void {
    if (meta === undefined) this.receiving.onFrame(bytes, 0, bytes.length);
    else if (side === 'requests') this.receiving.onRequest(bytes, 0, bytes.length, meta);
    else this.sending.onResponse(bytes, 0, bytes.length, opcodeBits[bytes[0]], meta);
  }

  /** Before any completion says that a request is over: its memory is the program's again. */
  #stopCopies(): void {
    const { copies } = this;
    if (copies !== undefined) this.core.counters.rxWrongState += copies.stop();
  }

  #reset(): void {
    // Whoever has seen its last message complete may end it at once, and the peer waits for the answer.
    this.receiving.transmitAcknowledgement();
    this.#stopCopies();
    this.#publish(QpState.RESET);
    this.sq.discard();
    this.rq.discard();
    this.sending.reset();
    this.receiving.reset();
    this.core.timers.disarm(this.timerId);
    this.core.unhold(this);
    this.peerWay = 0;
    this.#heardFromPeer = false;
    this.#notifiedUs = -Infinity;
    this.#drainNotice = false;
    this.attr = initialAttributes(this.cap);
    this.destQpn = 0;
    this.#peerRnrRetry = -1;
  }

  #publish(state: QpState): void {
    this.state = state;
    if (this.peerRow !== 0 && !this.mayReceive) {
      this.core.peers.close(this.peerRow);
      this.peerRow = 0;
    }
    this.sq.publishState(state);
    this.rq.publishState(state);
    this.#watcher?.stateChanged();
  }
}
