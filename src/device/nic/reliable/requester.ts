import { ackTimeoutUs, Syndrome } from '../../ibta/index.js';
import { OpcodeBit, type PacketMeta } from '../../wire/index.js';
import type { NicCore } from '../nic-core.js';
import type { SendingHalf } from '../queue-pairs/halves.js';
import type { QpContext } from '../queue-pairs/qp-context.js';
import { connectedKinds, type RequestKind } from '../queue-pairs/request-kinds.js';
import type { Served } from '../queue-pairs/turns.js';
import { Completer } from './completer.js';
import { FlushSeal } from './flush-seal.js';
import { CongestionWindow } from './congestion-window.js';
import { LossProbe } from './loss-probe.js';
import { RequestSender } from './request-sender.js';
import { type RequesterState, SequenceErrors } from './requester-state.js';
import { RoundTrip } from './round-trip.js';
import { SendWindow } from './send-window.js';

/**
 * So long after its peer is gone a program is not told that its requests have failed. Programs may have sent more than they need, and end
 * when they have what they wait for: with adapters, that tell of it after their retries, hardly any of them ever sees the failure.
 */
const GRACE_US = 100_000;

/** Whether the NIC of the peer is gone, so that no answer will ever come. */
class PeerAbsence {
  #endsAtUs = Infinity;

  get isGone(): boolean {
    return this.#endsAtUs !== Infinity;
  }

  begin(nowUs: number): void {
    this.#endsAtUs = Math.min(this.#endsAtUs, nowUs + GRACE_US);
  }

  end(): void {
    this.#endsAtUs = Infinity;
  }

  /** How long requests still wait, µs. @param answered an answer has come and waits for memory: its request has gone well */
  patienceUs(nowUs: number, answered: boolean): number {
    return answered ? GRACE_US : Math.max(0, this.#endsAtUs - nowUs);
  }
}

/**
 * Packets after which an acknowledgement is asked for, so that the window keeps moving. Half of the queue at most: a
 * program that has none of its requests signalled waits for room in it.
 */
const ACK_REQUEST_INTERVAL = 16;

/**
 * The requester of a reliable service (RC and XRC): the state of what is posted, sent and acknowledged, and its parts,
 * the sender of requests, the completer of responses, and the loss probe when there are none.
 */
export class ReliableRequester implements SendingHalf, RequesterState {
  readonly window: SendWindow;
  readonly sender: RequestSender;
  readonly completer: Completer;
  readonly lossProbe: LossProbe;
  readonly kinds: readonly (RequestKind | undefined)[];
  congestion = new CongestionWindow(256);
  readonly roundTrip = new RoundTrip();
  readonly sequenceErrors = new SequenceErrors();
  readonly flushSeal = new FlushSeal();
  ackTimeoutUs = Infinity;
  retryCnt = 0;
  rnrRetry = 0;
  readonly ackRequestInterval: number;
  readPieces = 1;

  retransmittedPkts = 0;
  lossProbes = 0;
  completerRetryErr = 0;
  #rpCnpHandled = 0;
  readonly #absence = new PeerAbsence();

  constructor(
    private readonly qp: QpContext,
    private readonly core: NicCore,
  ) {
    this.kinds = connectedKinds(qp.opcodeClass);
    this.ackRequestInterval = Math.min(ACK_REQUEST_INTERVAL, qp.sq.entries >> 1);
    this.window = new SendWindow(qp.sq);
    this.lossProbe = new LossProbe(qp, this, core);
    this.completer = new Completer(qp, this, core);
    this.sender = new RequestSender(qp, this, core);
  }

  get busy(): boolean {
    return this.window.busy;
  }

  start(): void {
    const { qp } = this;
    this.congestion = new CongestionWindow(qp.mtuBytes, this.core.builder.windowBytes(qp.path));
    this.roundTrip.reset();
    this.sequenceErrors.forget();
    this.flushSeal.reset();
    this.#absence.end();
    this.#takeLimits();
    this.window.reset(qp.attr.sqPsn);
    this.completer.reset();
    this.retransmittedPkts = 0;
    this.lossProbes = 0;
    this.completerRetryErr = 0;
    this.#rpCnpHandled = 0;
  }

  onAttributes(): void {
    this.#takeLimits();
  }

  transmit(budget: number): Served {
    return this.sender.transmit(budget);
  }

  onResponse(bytes: Uint8Array, offset: number, lengthBytes: number, bits: number, meta: PacketMeta): void {
    const { completer } = this;
    if ((bits & OpcodeBit.READ_RESPONSE) !== 0) completer.onReadResponse(bytes, offset, lengthBytes, meta);
    else if ((bits & OpcodeBit.ATOMIC_ACK) !== 0) completer.onAtomicAcknowledge(bytes, offset);
    else completer.onAcknowledge(bytes, offset);
  }

  onCongestion(notified: boolean): void {
    if (notified) this.#rpCnpHandled += 1;
    this.congestion.onCongestion(this.window.inFlight);
  }

  counters(): Record<string, number> {
    const { congestion, roundTrip } = this;
    return {
      cwnd: congestion.bytes,
      cwnd_max: congestion.maxBytes,
      cwnd_cuts: congestion.cuts,
      cwnd_quiet_rounds: congestion.quietRounds,
      rtt_us: Math.round(roundTrip.smoothedUs),
      rtt_var_us: Math.round(roundTrip.variationUs),
      rp_cnp_handled: this.#rpCnpHandled,
      loss_probes: this.lossProbes,
      retransmitted_pkts: this.retransmittedPkts,
      completer_retry_err: this.completerRetryErr,
    };
  }

  onPeerFlush(twice: boolean): void {
    this.flushSeal.onPeerFlush(twice);
  }

  onPeerGone(): void {
    this.#absence.begin(this.core.nowUs);
    // What is posted later is sent, and ends as soon.
    this.#takeLimits();
    this.#awaitNobody();
  }

  onTimer(lateUs: number): void {
    if (this.#absence.isGone) this.#awaitNobody();
    else this.completer.onTimer(lateUs);
  }

  #awaitNobody(): void {
    const { core, qp } = this;
    if (!this.window.busy) return;
    const patienceUs = this.#absence.patienceUs(core.nowUs, qp.copies?.responses.waiting === true);
    if (patienceUs > 0) core.timers.arm(qp.timerId, core.nowUs + patienceUs);
    else this.completer.giveUp(Syndrome.PEER_GONE);
  }

  flush(cause: Syndrome): void {
    this.completer.flush(cause);
  }

  reset(): void {
    this.window.reset(0);
    this.completer.reset();
  }

  /** Keeps by itself what every acknowledgement needs: the attributes are many, and far away in memory. */
  #takeLimits(): void {
    const { timeout, retryCnt, rnrRetry, maxRdAtomic } = this.qp.attr;
    // 0 is for ever, and a peer that is gone is not waited for.
    const patienceUs = ackTimeoutUs(timeout === 0 ? 0 : Math.max(timeout, this.core.limits.minAckTimeout));
    this.ackTimeoutUs = this.#absence.isGone ? 0 : patienceUs;
    this.retryCnt = retryCnt;
    this.rnrRetry = rnrRetry;
    this.readPieces = maxRdAtomic > 1 ? 2 : 1;
  }
}
