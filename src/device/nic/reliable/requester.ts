import { ackTimeoutUs, Syndrome } from '../../ibta/index.js';
import { OpcodeBit, type PacketMeta } from '../../wire/index.js';
import type { NicCore } from '../nic-core.js';
import type { SendingHalf } from '../queue-pairs/halves.js';
import type { FailedRequest, QpContext } from '../queue-pairs/qp-context.js';
import type { TransmitResult } from '../queue-pairs/turns.js';
import { onAcknowledge, onAtomicAcknowledge, onReadResponse } from './completer.js';
import { completeOldest, flush } from './completions.js';
import { CongestionWindow } from './congestion-window.js';
import { giveUp, onTimer } from './loss-recovery.js';
import { transmitRequests } from './request-sender.js';
import { SenderState } from './sender-state.js';

/**
 * How long after the peer's NIC is gone the requests fail. Programs may have sent more than they need, and end
 * when they have what they wait for. With adapters, which report it only after all retries, such a program hardly ever sees the failure.
 */
const GRACE_US = 100_000;

/** Runs once the peer's NIC is gone, so that no answer will ever come. */
class PeerGoneTimer {
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

  /** How long requests still wait, µs. @param answered an answer has come and waits for memory: its request succeeds */
  leftUs(nowUs: number, answered: boolean): number {
    return answered ? GRACE_US : Math.max(0, this.#endsAtUs - nowUs);
  }
}

/** The requester of a reliable service (RC and XRC): a {@link SenderState}, and the events of the queue pair that change it. */
export class ReliableRequester implements SendingHalf {
  readonly #state: SenderState;
  readonly #peerGone = new PeerGoneTimer();

  constructor(
    private readonly qp: QpContext,
    private readonly core: NicCore,
  ) {
    this.#state = new SenderState(qp, core);
  }

  get busy(): boolean {
    return this.#state.window.busy;
  }

  start(): void {
    const { qp } = this;
    const state = this.#state;
    state.congestion = new CongestionWindow(qp.mtuBytes, this.core.builder.windowBytes(qp.path));
    state.rtt.reset();
    state.sequenceErrors.forget();
    state.flushSeal.reset();
    this.#peerGone.end();
    this.#takeLimits();
    state.reset(qp.attr.sqPsn);
    state.resetCounters();
  }

  onAttributes(): void {
    this.#takeLimits();
  }

  transmit(budget: number): TransmitResult {
    return transmitRequests(this.#state, budget);
  }

  onResponse(bytes: Uint8Array, offset: number, lengthBytes: number, bits: number, meta: PacketMeta): void {
    if ((bits & OpcodeBit.READ_RESPONSE) !== 0) onReadResponse(this.#state, bytes, offset, lengthBytes, meta);
    else if ((bits & OpcodeBit.ATOMIC_ACK) !== 0) onAtomicAcknowledge(this.#state, bytes, offset);
    else onAcknowledge(this.#state, bytes, offset);
  }

  onCongestion(notified: boolean): void {
    const state = this.#state;
    if (notified) state.rpCnpHandled += 1;
    state.congestion.onCongestion(state.window.inFlight);
  }

  counters(): Record<string, number> {
    const state = this.#state;
    const { congestion, rtt } = state;
    return {
      cwnd: congestion.bytes,
      cwnd_max: congestion.maxBytes,
      cwnd_cuts: congestion.cuts,
      cwnd_quiet_rounds: congestion.quietRounds,
      rtt_us: Math.round(rtt.smoothedUs),
      rtt_var_us: Math.round(rtt.variationUs),
      rp_cnp_handled: state.rpCnpHandled,
      loss_probes: state.lossProbes,
      retransmitted_pkts: state.retransmittedPkts,
      completer_retry_err: state.completerRetryErr,
    };
  }

  onPeerFlush(twice: boolean): void {
    this.#state.flushSeal.onPeerFlush(twice);
  }

  onPeerGone(): void {
    this.#peerGone.begin(this.core.nowUs);
    // Requests that are posted later are sent, and fail at the same time.
    this.#takeLimits();
    this.#awaitPeerGone();
  }

  onTimer(lateUs: number): void {
    if (this.#peerGone.isGone) this.#awaitPeerGone();
    else onTimer(this.#state, lateUs);
  }

  #awaitPeerGone(): void {
    const { core, qp } = this;
    if (!this.busy) return;
    const leftUs = this.#peerGone.leftUs(core.nowUs, qp.copies?.responses.waiting === true);
    if (leftUs > 0) core.timers.arm(qp.timerId, core.nowUs + leftUs);
    else giveUp(this.#state, Syndrome.PEER_GONE);
  }

  completeFailed({ status, syndrome, detail }: FailedRequest): void {
    const { sq } = this.qp;
    if (sq.has(sq.head)) completeOldest(this.#state, status, syndrome, detail);
  }

  flush(cause: Syndrome): void {
    flush(this.#state, cause);
  }

  reset(): void {
    this.#state.reset(0);
  }

  #takeLimits(): void {
    const state = this.#state;
    const { timeout, retryCnt, rnrRetry, maxRdAtomic } = this.qp.attr;
    // Timeout 0 waits indefinitely; a peer that is gone is not waited for.
    const timeoutUs = ackTimeoutUs(timeout === 0 ? 0 : Math.max(timeout, this.core.limits.minAckTimeout));
    state.ackTimeoutUs = this.#peerGone.isGone ? 0 : timeoutUs;
    state.retryCnt = retryCnt;
    state.rnrRetry = rnrRetry;
    state.readParts = maxRdAtomic > 1 ? 2 : 1;
  }
}
