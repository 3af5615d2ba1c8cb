import { psnAdd, psnDiff, QpState, rnrTimerUs, SendFlags, Syndrome, WcOpcode, WcStatus } from '../../ibta/index.js';
import {
  Aeth,
  aethMsn,
  aethOffset,
  aethSyndrome,
  atomicAckOffset,
  bthPadCount,
  bthPsn,
  ICRC_BYTES,
  NakCode,
  opcodeHeaderBytes,
  type PacketMeta,
} from '../../wire/index.js';
import { Readiness } from '../memory/copying/foreign-memory.js';
import type { NicCore } from '../nic-core.js';
import type { QpContext } from '../queue-pairs/qp-context.js';
import { Due } from '../queue-pairs/turns.js';
import { flushStatus } from '../queues/work-queue.js';
import { SendWqe } from '../rings/layout.js';
import type { LossProbe } from './loss-probe.js';
import { describeRefusal, refusalOf } from './refusals.js';
import type { RequesterState } from './requester-state.js';

/** For reading one 64-bit atomic answer in host byte order: within a call, so that all queue pairs can share it. */
const answer = new Uint8Array(8);
/** rnr_retry value that stands for "for ever" (IBTA 9.7.5.2.8). */
const RNR_RETRY_INFINITE = 7;
/** A timer that fires later than this is not merely late: this NIC was not run. */
const STARVED_US = 1000;
/** With a quarter of all packets lost, one in 262,144 is lost this often in a row. A packet that never passes ends here. */
const MAX_GO_BACKS = 8;

/** A request that failed locally. */
interface StalledRequest {
  readonly index: number;
  readonly status: WcStatus;
  readonly syndrome: Syndrome;
  readonly detail: Int32Array;
}

/** The requester whose requests are completed. */
interface CompletedRequester extends RequesterState {
  readonly lossProbe: LossProbe;
}

/** The receiving half of a requester: takes answers, completes requests in order, and goes back after a loss (protocol/reliable.md 2.6). */
export class Completer {
  /** Between an RNR NAK and the end of the time that it asked for. */
  rnrWaiting = false;

  #stalled: StalledRequest | undefined;

  #retriesLeft = 0;
  #rnrRetriesLeft = 0;
  /** Times the oldest unacknowledged packet was sent. */
  #transmissions = 0;
  /** When the oldest unacknowledged packet was first sent. */
  #waitingSinceUs = 0;
  /** A NAK made us go back, and nothing was sent since: another one tells nothing new. */
  #rewound = false;
  /** How often responses made us go back since there was progress, or since the timer ran out. */
  #wentBack = 0;
  /** A gap in the responses made us go back: the rest of the same burst shows the same gap. */
  #gapSeen = false;
  /** The peer's last packet refused a request that is complete here. */
  #lateRefusal: { readonly psn: number; readonly code: number } | undefined;
  /** The retry timer ran out while this NIC was not run, and was set once more. */
  #starved = false;

  constructor(
    private readonly qp: QpContext,
    private readonly requester: CompletedRequester,
    private readonly core: NicCore,
  ) {}

  reset(): void {
    this.rnrWaiting = false;
    this.#stalled = undefined;
    this.core.timers.disarm(this.qp.timerId);
    this.#rewound = false;
    this.requester.lossProbe.reset();
    this.#reload();
  }

  /** Whether a request failed locally; it ends the queue pair once everything before it is complete. */
  get stalled(): boolean {
    return this.#stalled !== undefined;
  }

  /** Packets went out: the retry timer runs from the first of them on. */
  onTransmit(): void {
    this.#rewound = false;
    if (this.core.timers.isArmed(this.qp.timerId)) return;
    if (this.#transmissions === 0) {
      this.#transmissions = 1;
      this.#waitingSinceUs = this.core.nowUs;
    }
    this.requester.lossProbe.startTimer();
  }

  /** The retry timer, or that of an RNR NAK, ran out. */
  onTimer(lateUs: number): void {
    const { core, qp } = this;
    if (this.requester.window.busy) core.builder.look(qp.path);
    if (this.rnrWaiting) {
      this.rnrWaiting = false;
      core.schedule(qp, Due.SENDING);
    } else if (this.requester.lossProbe.due && qp.copies?.responses.waiting !== true) {
      this.requester.lossProbe.onTimer();
    } else if (qp.held || qp.copies?.responses.waiting === true) {
      this.#startTimer(this.requester.ackTimeoutUs);
    } else if (this.requester.window.inFlight > 0 || this.#rewound) {
      if (this.#waitAgain(lateUs)) return;
      this.#gapSeen = false;
      this.#wentBack = 0;
      this.#retry(Syndrome.RETRY_TIMEOUT);
    }
  }

  /** The peer is asked again: a gap in its answer is news. */
  onQuestion(): void {
    this.#gapSeen = false;
  }

  /** A probe was answered, but not what follows it: that is lost. It takes no retry, since there was progress. */
  onRestMissing(): void {
    this.requester.congestion.onLoss();
    this.#rewind();
  }

  /** An ACK, NAK or RNR NAK. */
  onAcknowledge(bytes: Uint8Array, offset: number): void {
    const psn = bthPsn(bytes, offset);
    const aeth = offset + aethOffset[bytes[offset]];
    const syndrome = aethSyndrome(bytes, aeth);
    const value = syndrome & Aeth.VALUE_MASK;
    switch (syndrome & Aeth.KIND_MASK) {
      case 0:
        if (this.#isExpected(psn)) this.#acknowledge(psnAdd(psn, 1));
        break;
      case Aeth.RNR_NAK:
        if (this.#isExpected(psn)) this.#onRnr(psn, value);
        break;
      case Aeth.NAK:
        if (value !== NakCode.PSN_SEQUENCE_ERROR && this.requester.window.isOfOldest(psn))
          this.#refuse(psn, value, aethMsn(bytes, aeth));
        else if (this.#isExpected(psn)) this.#onNak(psn, value, aethMsn(bytes, aeth));
        else if (value !== NakCode.PSN_SEQUENCE_ERROR) this.#onLateRefusal(psn, value);
        break;
      default:
        this.core.counters.rxUnexpectedResponse += 1;
    }
  }

  /** A READ response, with which FLUSH and ATOMIC_WRITE are answered as well. */
  onReadResponse(bytes: Uint8Array, offset: number, lengthBytes: number, meta: PacketMeta): void {
    const { qp, core } = this;
    const { window } = this.requester;
    const psn = bthPsn(bytes, offset);
    if (!this.#isExpected(psn) || !this.#acknowledge(psn)) return;
    if (window.una !== psn) return;
    const index = qp.sq.head;
    const entry = qp.sq.entry(index);
    const control = qp.sq.words[entry + SendWqe.CONTROL];
    const opcode = bytes[offset];
    const kind = this.requester.kinds[control & 0xff];
    const header = opcodeHeaderBytes[opcode];
    const payload = lengthBytes - header - ICRC_BYTES - bthPadCount(bytes, offset);
    if (kind?.confirmed === true && payload === 0) {
      if (kind.wcOpcode === WcOpcode.FLUSH) this.requester.flushSeal.onAnswer();
      this.#progress(psnAdd(psn, 1));
      return;
    }
    const segmentBytes = window.segmentBytes(index);
    const begin = psnDiff(psn, window.firstPsn(index)) * segmentBytes;
    if (kind?.read !== true || payload !== Math.min(window.lengthBytes(index) - begin, segmentBytes)) {
      this.#badResponse(psn, opcode);
      return;
    }
    const { mover } = core;
    const numSge = (control >>> 16) & 0xff;
    const data = entry + SendWqe.DATA;
    const source = meta.payload ?? bytes;
    const at = offset + header + meta.payloadShift;
    const ends = begin + payload === window.lengthBytes(index);
    const stored = mover.scatter(qp.sq.words, data, numSge, qp.pd, begin, source, at, payload, qp, 'responses', ends);
    this.#onStored(stored, psn);
  }

  /** What a response has brought is in memory, and the request goes on; or it cannot be, and ends. */
  #onStored(stored: Readiness, psn: number): void {
    const { mover } = this.core;
    if (stored === Readiness.READY) this.#progress(psnAdd(psn, 1));
    else if (stored === Readiness.FAILED) this.fail(WcStatus.LOC_PROT_ERR, mover.syndrome, mover.detail);
  }

  /** The answer to an atomic. */
  onAtomicAcknowledge(bytes: Uint8Array, offset: number): void {
    const { qp, core } = this;
    const psn = bthPsn(bytes, offset);
    if (!this.#isExpected(psn) || !this.#acknowledge(psn)) return;
    if (this.requester.window.una !== psn) return;
    const entry = qp.sq.entry(qp.sq.head);
    const control = qp.sq.words[entry + SendWqe.CONTROL];
    const opcode = bytes[offset];
    if (this.requester.kinds[control & 0xff]?.atomic !== true) {
      this.#badResponse(psn, opcode);
      return;
    }
    const at = offset + atomicAckOffset[opcode];
    // The wire is big-endian, memory in host order (protocol/packets.md 1.3).
    for (let i = 0; i < 8; i += 1) answer[i] = bytes[at + 7 - i];
    const { mover } = core;
    const numSge = (control >>> 16) & 0xff;
    const { words } = qp.sq;
    const stored = mover.scatter(words, entry + SendWqe.DATA, numSge, qp.pd, 0, answer, 0, 8, qp, 'responses', true);
    this.#onStored(stored, psn);
  }

  /** A request was carried out without packets: it is complete as soon as those before it are. */
  onCarriedOut(): void {
    this.#completeAcknowledged();
  }

  /** A local error in the request that would start next. */
  stall(status: WcStatus, syndrome: Syndrome, detail: Int32Array): void {
    this.stallAt(this.requester.window.next, status, syndrome, detail);
  }

  stallWith(status: WcStatus, syndrome: Syndrome, a: number, b: number): void {
    const { detail } = this.core;
    this.stall(status, syndrome, detail.fill(0).fill(a, 0, 1).fill(b, 1, 2));
  }

  /** A local error in request `index`: completions stay in order, so it waits for those before it. */
  stallAt(index: number, status: WcStatus, syndrome: Syndrome, detail: Int32Array): void {
    this.#stalled = { index, status, syndrome, detail: detail.slice() };
    this.#failStalled();
  }

  /** Ends the oldest request with an error, and with it the queue pair (protocol/reliable.md 2.10). */
  fail(status: WcStatus, syndrome: Syndrome, detail: Int32Array): void {
    const { qp } = this;
    qp.enterError(syndrome, () => {
      if (qp.sq.has(qp.sq.head)) this.#completeOldest(status, syndrome, detail);
    });
  }

  /** Completes whatever the send queue holds as flushed. */
  flush(cause: Syndrome): void {
    const { qp } = this;
    const { detail, timers } = this.core;
    this.rnrWaiting = false;
    this.#stalled = undefined;
    timers.disarm(qp.timerId);
    detail.fill(0);
    detail.set([QpState.ERR, cause]);
    for (let left = qp.sq.count; left > 0 && qp.sq.has(qp.sq.head); left -= 1)
      this.#completeOldest(flushStatus(cause), Syndrome.FLUSHED, detail);
    this.requester.window.reset(this.requester.window.una);
  }

  /** Whether a response to `psn` can be honest: the packet was sent and is not acknowledged. */
  #isExpected(psn: number): boolean {
    const { window } = this.requester;
    if (psnDiff(psn, window.una) >= 0 && psnDiff(psn, window.sent) < 0) return true;
    this.core.counters.rxUnexpectedResponse += 1;
    return false;
  }

  /**
   * Takes everything before `psn` as acknowledged.
   *
   * @returns false when a request before it still lacks its answer, which is therefore lost, or when the queue
   *   pair has ended
   */
  #acknowledge(psn: number): boolean {
    const { qp } = this;
    const { window } = this.requester;
    let index = qp.sq.head;
    let reached = psn;
    // Both seen from `una`: the longest READ has 2^23 packets, too many to compare with its first PSN directly.
    const distance = psnDiff(psn, window.una);
    while (index !== window.next && distance > psnDiff(window.firstPsn(index), window.una)) {
      const kind = this.requester.kinds[qp.sq.words[qp.sq.entry(index) + SendWqe.CONTROL] & 0xff];
      if (kind?.answered === true) {
        const first = window.firstPsn(index);
        reached = psnDiff(window.una, first) > 0 ? window.una : first;
        break;
      }
      index = (index + 1) | 0;
    }
    if (psnDiff(reached, window.una) > 0) this.#progress(reached);
    // What was acknowledged may have brought a failed request to its end, and the queue pair with it.
    if (!qp.maySend) return false;
    if (reached === psn) return true;
    if (!this.#gapSeen) {
      this.#gapSeen = true;
      this.#goBack();
    }
    return false;
  }

  /** Notes that everything before `psn` is done, and completes what that finishes. */
  #progress(psn: number): void {
    const { qp, core } = this;
    const { window, congestion, roundTrip } = this.requester;
    congestion.onAcknowledged(psnDiff(psn, window.una), window.inFlight, core.nowUs);
    roundTrip.onAcknowledged(psn, core.nowUs);
    window.acknowledge(psn);
    // A peer that sent an RNR NAK is ready: this came later.
    this.rnrWaiting = false;
    this.#reload();
    this.#completeAcknowledged();
    window.catchUp();
    if (window.inFlight > 0) {
      this.#transmissions = 1;
      this.#waitingSinceUs = core.nowUs;
      this.requester.lossProbe.onProgress();
    } else {
      this.core.timers.disarm(this.qp.timerId);
      this.requester.lossProbe.settle();
    }
    this.#failStalled();
    if (!window.busy) qp.onSendIdle();
    core.schedule(qp, Due.SENDING);
  }

  #completeAcknowledged(): void {
    const { sq } = this.qp;
    const { window } = this.requester;
    while (window.busy && window.isAcknowledged(sq.head))
      this.#completeOldest(WcStatus.SUCCESS, Syndrome.NONE, undefined);
    sq.publish();
  }

  #onRnr(psn: number, timerCode: number): void {
    const { qp, core } = this;
    core.counters.rcvdRnrErr += 1;
    if (!this.#acknowledge(psn) || this.rnrWaiting) return;
    const { rnrRetry } = qp.attr;
    if (rnrRetry !== RNR_RETRY_INFINITE) {
      if (this.#rnrRetriesLeft === 0) {
        core.counters.retryRnrExceededErr += 1;
        this.fail(WcStatus.RNR_RETRY_EXC_ERR, Syndrome.RNR_EXCEEDED, this.#retryDetail(timerCode));
        return;
      }
      this.#rnrRetriesLeft -= 1;
    }
    // The peer and the path are alive; only rnr_retry limits how long the peer may stay not ready.
    this.#retriesLeft = this.requester.retryCnt;
    this.#wentBack = 0;
    this.#moveBack();
    this.rnrWaiting = true;
    this.#startTimer(rnrTimerUs(timerCode));
  }

  #onNak(psn: number, code: number, msn: number): void {
    if (code === NakCode.PSN_SEQUENCE_ERROR) {
      this.core.counters.rcvdSeqErr += 1;
      this.requester.sequenceErrors.note(psn);
      if (this.#acknowledge(psn)) this.#goBack();
      return;
    }
    if (this.#acknowledge(psn)) this.#refuse(psn, code, msn);
  }

  /**
   * The peer refuses a request that is complete here. IBTA has such a packet ignored (ghost acknowledge), and a responder that refuses a
   * repeat may live on: ours does. But one that has ended its queue pair, as rxe does, answers nothing from then on, and
   * this NAK is all that is ever heard of the reason. It counts once the retries have run out.
   */
  #onLateRefusal(psn: number, code: number): void {
    if (this.requester.window.wasAcknowledged(psn)) this.#lateRefusal = { psn, code };
  }

  /** The peer refuses the oldest request. */
  #refuse(psn: number, code: number, msn: number): void {
    const { qp, core } = this;
    const { status, syndrome } = refusalOf(code);
    describeRefusal(core.detail, syndrome, qp, this.requester.window.lengthBytes(qp.sq.head), psn, msn);
    this.fail(status, syndrome, core.detail);
  }

  #badResponse(psn: number, opcode: number): void {
    const { sq } = this.qp;
    const { detail } = this.core;
    detail.fill(0);
    detail.set([psn, opcode, sq.words[sq.entry(sq.head) + SendWqe.CONTROL] & 0xff]);
    this.fail(WcStatus.BAD_RESP_ERR, Syndrome.BAD_RESPONSE, detail);
  }

  /**
   * Resends from the oldest unacknowledged packet because a response says that it was lost. Of what says so again
   * without progress none consumes another retry, nor does it hold up the timer, which then ends a peer that goes on
   * saying so. Until it runs out, such answers come as fast as the path is short: after a few of them it is waited for.
   */
  #goBack(): void {
    if (this.#rewound || this.rnrWaiting || this.#wentBack === MAX_GO_BACKS) return;
    this.#wentBack += 1;
    if (this.#wentBack === 1) this.#retry(Syndrome.RETRY_SEQUENCE);
    else this.#rewind();
  }

  /**
   * A timer that is found to have run out long ago says more about this NIC than about its peer: what that has said may
   * still be unread, and where both share processors it may have got none either. So it has as much time again, once, and at
   * most one interval: a timer may take up to four (protocol/reliable.md 2.6).
   *
   * @returns whether it has
   */
  #waitAgain(lateUs: number): boolean {
    if (lateUs < STARVED_US || this.#starved) {
      this.#starved = false;
      return false;
    }
    this.#starved = true;
    this.#startTimer(Math.min(lateUs, this.requester.ackTimeoutUs));
    return true;
  }

  #retry(why: Syndrome): void {
    if (this.#retriesLeft === 0) {
      this.giveUp(why);
      return;
    }
    this.#retriesLeft -= 1;
    this.core.timers.disarm(this.qp.timerId);
    if (why === Syndrome.RETRY_TIMEOUT) this.requester.congestion.onTimeout();
    else this.requester.congestion.onLoss();
    this.#rewind();
  }

  /** No answer will come. */
  giveUp(why: Syndrome): void {
    const { sequenceErrors, window } = this.requester;
    this.core.counters.retryExceededErr += 1;
    const late = this.#lateRefusal;
    if (late !== undefined) {
      const detail = this.#retryDetail(late.psn);
      detail[5] = late.code;
      this.fail(refusalOf(late.code).status, Syndrome.REFUSED_BEFORE, detail);
      return;
    }
    this.fail(WcStatus.RETRY_EXC_ERR, why, this.#retryDetail(sequenceErrors.times(window.una)));
  }

  #rewind(): void {
    this.core.counters.completerRetryErr += 1;
    this.requester.completerRetryErr += 1;
    this.#moveBack();
    this.#rewound = true;
    this.core.schedule(this.qp, Due.SENDING);
  }

  /** Whatever is unacknowledged is to be sent once more. */
  #moveBack(): void {
    this.#transmissions += 1;
    this.requester.roundTrip.forget();
    this.requester.lossProbe.onReturn();
    this.requester.window.rewind();
  }

  #retryDetail(codeOrNaks: number): Int32Array {
    const { detail, nowUs } = this.core;
    const elapsedUs = Math.min(nowUs - this.#waitingSinceUs, 0x7fffffff);
    detail.set([this.requester.window.una, this.#transmissions, elapsedUs, this.qp.destQpn, codeOrNaks, 0]);
    return detail;
  }

  /** Both counters start anew whenever something was acknowledged. */
  #reload(): void {
    this.#retriesLeft = this.requester.retryCnt;
    this.#rnrRetriesLeft = this.requester.rnrRetry;
    this.#transmissions = 0;
    this.#gapSeen = false;
    this.#wentBack = 0;
    this.#starved = false;
    this.#lateRefusal = undefined;
  }

  #startTimer(intervalUs: number): void {
    this.core.timers.arm(this.qp.timerId, this.core.nowUs + intervalUs);
  }

  #failStalled(): void {
    const stalled = this.#stalled;
    if (stalled === undefined) return;
    const passed = (this.qp.sq.head - stalled.index) | 0;
    if (passed < 0) return;
    this.#stalled = undefined;
    // One that could not be sent again, and which the peer has had all the while, has gone well.
    if (passed === 0) this.fail(stalled.status, stalled.syndrome, stalled.detail);
  }

  /**
   * Retires the oldest request and writes its completion, when one is due. In this order: a program that sees the
   * completion may post into the slot at once, so the slot must be free by then, and must not be read any more.
   */
  #completeOldest(status: WcStatus, syndrome: Syndrome, detail: Int32Array | undefined): void {
    const { qp } = this;
    const { sq } = qp;
    const index = sq.head;
    const entry = sq.entry(index);
    const control = sq.words[entry + SendWqe.CONTROL];
    const wrIdLo = sq.words[entry + SendWqe.WR_ID_LO];
    const wrIdHi = sq.words[entry + SendWqe.WR_ID_HI];
    const wcOpcode = this.requester.kinds[control & 0xff]?.wcOpcode ?? WcOpcode.SEND;
    const success = status === WcStatus.SUCCESS;
    if (success && wcOpcode === WcOpcode.SEND) this.core.counters.rdmaSends += 1;
    sq.retire((index + 1) | 0);
    if (success && !qp.sqSigAll && (control & (SendFlags.SIGNALED << 8)) === 0) return;
    sq.publish();
    const byteLen = success ? this.requester.window.lengthBytes(index) : 0;
    qp.sendCq.push(wrIdLo, wrIdHi, status, wcOpcode, byteLen, 0, qp.qpn, 0, 0, false, syndrome, detail);
  }
}
