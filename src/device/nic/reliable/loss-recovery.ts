import { rnrTimerUs, Syndrome, WcStatus } from '../../ibta/index.js';
import { PendingWork } from '../queue-pairs/turns.js';
import { fail } from './completions.js';
import { refusalOf } from './refusals.js';
import { Phase, type SenderState, TimerReason } from './sender-state.js';

/**
 * The timer of a reliable requester, and what it does about loss (protocol/reliable.md 2.6). docs/internals/reliability.md has the table.
 *
 * Before the retry timer runs out, the requester finds out how far the peer has got, which takes no retry. If the last packet
 * requested no acknowledgement, it sends that packet again with a request for one. If an answer is overdue, it sends a probe: the
 * first unanswered request alone.
 *
 * A probe starts nowhere else. Of a READ it requests all missing responses, since a responder may forget the part before a
 * repeat's start, as rxe does. And a peer that has reported a gap silently drops all packets behind it, as rxe does
 * until the gap is filled (protocol/reliable.md 2.3, row 1): it would not answer to the last packet.
 */

/**
 * How long after packets without an acknowledgement request one with it is sent. Long enough for a program to send more,
 * short enough that programs hardly ever destroy a queue pair before; its requests would be flushed though they
 * were delivered.
 */
const ASK_DELAY_US = 250;
/** A peer that is silent for this long after a part of an answer sends no more of it. */
const MIN_REST_US = 250;
/** rnr_retry value that stands for unlimited retries (IBTA 9.7.5.2.8). */
const RNR_RETRY_INFINITE = 7;
/** A peer that takes no turn for longer counts as one that does not answer: 5 minutes. */
const MAX_STANDSTILL_US = 300e6;
/** A timer that fires later than this is not merely late: this NIC was not run. */
const STARVED_US = 1000;
/** With a quarter of all packets lost, one in 262,144 is lost this often in a row. A packet that never arrives ends here. */
const MAX_GO_BACKS = 8;

/**
 * A packet went out.
 *
 * @param asked the peer must answer it, or acknowledge it
 */
export function onTransmit(s: SenderState, asked: boolean): void {
  const { core } = s;
  s.tailUnasked = !asked;
  s.putOff = false;
  s.lastTransmitUs = core.nowUs;
  if (asked) s.askNext = false;
  if (s.phase === Phase.REWOUND) s.phase = Phase.SENDING;
  // The retry timer runs from the first of several packets on.
  if (core.timers.isArmed(s.qp.timerId)) return;
  if (s.transmissions === 0) {
    s.transmissions = 1;
    s.waitingSinceUs = core.nowUs;
  }
  startTimer(s);
}

/** Whether the queue pair was idle for so long that the next packet may be the last for a while. */
export function isQuiet(s: SenderState): boolean {
  return s.core.nowUs - s.lastTransmitUs > ASK_DELAY_US;
}

/** Packets were acknowledged, and others are in flight. */
export function onProgress(s: SenderState): void {
  s.transmissions = 1;
  s.waitingSinceUs = s.core.nowUs;
  s.keepsRetryTime = false;
  s.probeNext = false;
  if (s.phase === Phase.PROBING) s.phase = Phase.RESTING;
  startTimer(s);
}

/** Sets the timer: to ask, or to retransmit where there is no time for that. */
function startTimer(s: SenderState): void {
  const { ackTimeoutUs, rtt } = s;
  const delayUs =
    s.phase === Phase.RESTING
      ? Math.max(MIN_REST_US, rtt.usualUs)
      : s.tailUnasked
        ? Math.min(ASK_DELAY_US, ackTimeoutUs / 2)
        : rtt.ptoUs;
  const { nowUs } = s.core;
  if (!s.keepsRetryTime) s.retryAtUs = nowUs + ackTimeoutUs;
  s.keepsRetryTime = false;
  if (nowUs + delayUs < s.retryAtUs) s.arm(TimerReason.ASK, nowUs + delayUs);
  else s.arm(TimerReason.RETRY, s.retryAtUs);
}

/** The timer ran out `lateUs` ago. */
export function onTimer(s: SenderState, lateUs: number): void {
  const { core, qp, window } = s;
  const beat = window.busy ? core.builder.look(qp.path) : -1;
  const isAnswerWaiting = qp.copies?.responses.waiting === true;
  if (s.timerFor === TimerReason.RNR) {
    s.phase = Phase.REWOUND;
    core.schedule(qp, PendingWork.SENDING);
  } else if (s.timerFor === TimerReason.ASK && !isAnswerWaiting) {
    onAskTimer(s);
  } else if (qp.held || isAnswerWaiting) {
    s.arm(s.timerFor, core.nowUs + s.ackTimeoutUs);
  } else if (window.inFlight > 0 || s.phase === Phase.REWOUND) {
    if (waitAgain(s, lateUs) || waitsForTurns(s, beat)) return;
    s.gapSeen = false;
    s.goBacks = 0;
    retry(s, Syndrome.RETRY_TIMEOUT);
  }
}

/** The next packet asks, or the last one again when there is none. */
function onAskTimer(s: SenderState): void {
  const { core, qp } = s;
  s.timerFor = TimerReason.RETRY;
  if (s.window.inFlight === 0) return;
  if (mayStillAsk(s)) {
    s.putOff = true;
    s.askNext = true;
    s.keepsRetryTime = true;
    startTimer(s);
  } else if (s.phase === Phase.RESTING) {
    // The probe was answered, but not what follows it: that is lost. It takes no retry, since there was progress.
    s.congestion.onLoss();
    rewind(s);
  } else if (s.tailUnasked && core.nowUs - s.lastTransmitUs < ASK_DELAY_US / 2) {
    // More was sent in the meantime, and more will probably follow.
    s.askNext = true;
    startTimer(s);
  } else if (askNow(s)) {
    s.keepsRetryTime = true;
    core.schedule(qp, PendingWork.SENDING);
  } else {
    probeWhenDue(s);
  }
}

/**
 * Whether the next packet can ask, because there will be one: it waits for room on its path, for memory, or for its turn. For a queue pair
 * whose turn comes again and again without a packet, that is assumed once only.
 */
function mayStillAsk(s: SenderState): boolean {
  const { qp } = s;
  return qp.held || qp.copies?.sending.pending === true || (qp.isDueToSend && !s.putOff);
}

/**
 * Sends the last packet again, to request an acknowledgement of all packets, when a request waits for it.
 *
 * @returns false when the peer was asked already, or there is nothing to ask about
 */
export function askNow(s: SenderState): boolean {
  const { window } = s;
  if (!s.tailUnasked || window.nxt !== window.sent || window.inFlight === 0) return false;
  s.askNext = true;
  window.stepBack();
  return true;
}

function probeWhenDue(s: SenderState): void {
  const { core, rtt } = s;
  const probeUs = s.lastTransmitUs + rtt.ptoUs;
  if (probeUs <= core.nowUs) {
    s.probeNext = true;
    s.keepsRetryTime = true;
    rtt.onProbe();
    // A gap in the answer to the probe is news.
    s.gapSeen = false;
    core.counters.lossProbes += 1;
    s.lossProbes += 1;
    core.schedule(s.qp, PendingWork.SENDING);
  } else if (probeUs < s.retryAtUs) s.arm(TimerReason.ASK, probeUs);
  else s.arm(TimerReason.RETRY, s.retryAtUs);
}

export function onProbeSent(s: SenderState): void {
  s.probeNext = false;
  s.phase = Phase.PROBING;
}

/** The packet that was to ask cannot be sent any more: the retry timer decides. */
export function forgoAsking(s: SenderState): void {
  s.askNext = false;
  s.probeNext = false;
  if (s.window.inFlight === 0 || s.core.timers.isArmed(s.qp.timerId)) return;
  s.arm(TimerReason.RETRY, s.retryAtUs);
}

/**
 * Retransmits from the oldest unacknowledged packet because a response shows that it was lost. Further such responses
 * without progress take no retry and do not delay the timer, which ends a peer that repeats them. Until the timer
 * runs out they arrive as fast as the path is short, so after a few of them the requester waits for it.
 */
export function goBack(s: SenderState): void {
  if (s.phase === Phase.REWOUND || s.phase === Phase.RNR || s.goBacks === MAX_GO_BACKS) return;
  s.goBacks += 1;
  if (s.goBacks === 1) retry(s, Syndrome.RETRY_SEQUENCE);
  else rewind(s);
}

/** The peer has no receive request, and asks for the time of `timerCode`. */
export function waitForReceiver(s: SenderState, timerCode: number): void {
  if (s.rnrRetry !== RNR_RETRY_INFINITE) {
    if (s.rnrRetriesLeft === 0) {
      s.core.counters.retryRnrExceededErr += 1;
      fail(s, WcStatus.RNR_RETRY_EXC_ERR, Syndrome.RNR_EXCEEDED, retryDetail(s, timerCode));
      return;
    }
    s.rnrRetriesLeft -= 1;
  }
  // The peer and the path are alive; only rnr_retry limits how long the peer may stay not ready.
  s.retriesLeft = s.retryCnt;
  s.goBacks = 0;
  moveBack(s);
  s.phase = Phase.RNR;
  s.arm(TimerReason.RNR, s.core.nowUs + rnrTimerUs(timerCode));
}

/**
 * A timer that ran out long ago says more about this NIC than about its peer: the peer's packets may
 * still be unread, and where both share processors the peer may have got none either. So it has as much time again, once, and at
 * most one interval: a timer may take up to four (protocol/reliable.md 2.6).
 *
 * @returns whether it has
 */
function waitAgain(s: SenderState, lateUs: number): boolean {
  if (lateUs < STARVED_US || s.starved) {
    s.starved = false;
    return false;
  }
  s.starved = true;
  s.arm(TimerReason.RETRY, s.core.nowUs + Math.min(lateUs, s.ackTimeoutUs));
  return true;
}

/**
 * A peer in this machine may be alive and take no turns: its program computes, or was stopped. Nothing of what it was sent is lost
 * then, and no retry is due. The first timeout sends the packets again, without a retry, so that a peer that merely sleeps
 * wakes. Where the peer has taken no turn by the next one, it stands still.
 *
 * @param beat changes with each turn of the peer; -1 where that cannot be seen
 * @returns whether the requester waits
 */
function waitsForTurns(s: SenderState, beat: number): boolean {
  const { nowUs } = s.core;
  if (beat < 0 || nowUs - s.waitingSinceUs > MAX_STANDSTILL_US) return false;
  if (beat === s.peerBeat) {
    s.arm(TimerReason.RETRY, nowUs + s.ackTimeoutUs);
    return true;
  }
  s.peerBeat = beat;
  if (s.hasAsked) return false;
  s.hasAsked = true;
  rewind(s);
  return true;
}

function retry(s: SenderState, why: Syndrome): void {
  if (s.retriesLeft === 0) {
    giveUp(s, why);
    return;
  }
  s.retriesLeft -= 1;
  s.core.timers.disarm(s.qp.timerId);
  if (why === Syndrome.RETRY_TIMEOUT) s.congestion.onTimeout();
  else s.congestion.onLoss();
  rewind(s);
}

/** No answer will come: the oldest request fails. */
export function giveUp(s: SenderState, why: Syndrome): void {
  s.core.counters.retryExceededErr += 1;
  const late = s.lateRefusal;
  if (late !== undefined && why !== Syndrome.PEER_GONE) {
    const detail = retryDetail(s, late.psn);
    detail[5] = late.code;
    fail(s, refusalOf(late.code).status, Syndrome.REFUSED_BEFORE, detail);
    return;
  }
  fail(s, WcStatus.RETRY_EXC_ERR, why, retryDetail(s, s.sequenceErrors.times(s.window.una)));
}

function rewind(s: SenderState): void {
  s.core.counters.completerRetryErr += 1;
  s.completerRetryErr += 1;
  moveBack(s);
  s.phase = Phase.REWOUND;
  s.core.schedule(s.qp, PendingWork.SENDING);
}

/** All unacknowledged packets are to be sent again. */
function moveBack(s: SenderState): void {
  s.transmissions += 1;
  s.rtt.forget();
  s.forgetProbe();
  s.window.rewind();
}

function retryDetail(s: SenderState, last: number): Int32Array {
  const { detail, nowUs } = s.core;
  const elapsedUs = Math.min(nowUs - s.waitingSinceUs, 0x7fffffff);
  detail.set([s.window.una, s.transmissions, elapsedUs, s.qp.destQpn, last, 0]);
  return detail;
}
