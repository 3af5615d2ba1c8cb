import type { NicCore } from '../nic-core.js';
import type { QpContext } from '../queue-pairs/qp-context.js';
import { Due } from '../queue-pairs/turns.js';
import type { RequesterState } from './requester-state.js';

/**
 * How long after packets without an acknowledgement request one with it is sent. Long enough for a program to send more,
 * short enough that programs hardly ever destroy a queue pair before; its requests would be flushed though they
 * were delivered.
 */
const ASK_DELAY_US = 250;

/** A peer that is silent for so long after an answer has nothing more to send. */
const MIN_REST_US = 250;

/** The requester that asks. */
interface ProbingRequester extends RequesterState {
  readonly completer: {
    /** Between an RNR NAK and the end of the time that it asked for. */
    readonly rnrWaiting: boolean;
    /** The peer is asked again: a gap in its answer is news. */
    onQuestion(): void;
    /** A probe was answered, but not what follows it: that is lost. It takes no retry, since there was progress. */
    onRestMissing(): void;
  };
}

/**
 * Finds out how far the peer has got when it does not say so itself, before the retry timer runs out, and at the cost of
 * no retry. For packets without an acknowledgement request it sends the last packet again. Where an answer is overdue,
 * something was lost, and a probe goes out: the first unanswered request alone, as a retry would begin.
 *
 * A probe begins nowhere else. Of a READ it requests all that is missing, since a responder may forget what a repeat
 * leaves out before it, as rxe does. And a peer that has reported a gap silently drops all packets behind it, as rxe does
 * until the gap is filled (protocol/reliable.md 2.3, row 1): it would not answer to the last packet.
 */
export class LossProbe {
  /** The next packet is to ask for an acknowledgement, whatever it is. */
  asking = false;
  /** The first unanswered request is to be sent again, alone. */
  probing = false;
  /** The timer of the queue pair is set to ask, not to send again. */
  due = false;
  /** The last packet requested no acknowledgement, and has no answer of its own. */
  #unasked = false;
  /** When unacknowledged packets are sent again if the peer does not answer. */
  #retryAtUs = 0;
  /** The timer ran out and the peer was asked, which does not delay the retry. */
  #deadlineStands = false;
  /** A probe was sent, and not all packets then under way are acknowledged. */
  #probed = false;
  /** The timer is set for the end of the answer to a probe. */
  #resting = false;
  #lastTransmitUs = -Infinity;
  /** The timer ran out when the queue pair was about to send, and was set once more. */
  #putOff = false;

  constructor(
    private readonly qp: QpContext,
    private readonly requester: ProbingRequester,
    private readonly core: NicCore,
  ) {}

  reset(): void {
    this.asking = false;
    this.#lastTransmitUs = -Infinity;
    this.settle();
  }

  /** Nothing is under way. */
  settle(): void {
    this.#unasked = false;
    this.#deadlineStands = false;
    this.due = false;
    this.onReturn();
  }

  /** Everything unacknowledged is sent again: there is nothing to find out. */
  onReturn(): void {
    this.probing = false;
    this.#probed = false;
    this.#resting = false;
  }

  /**
   * A packet went out.
   *
   * @param asked the peer is to answer it, or to acknowledge it
   */
  onTransmit(asked: boolean): void {
    this.#unasked = !asked;
    this.#putOff = false;
    this.#lastTransmitUs = this.core.nowUs;
    if (asked) this.asking = false;
  }

  /** Whether the queue pair was idle for so long that the next packet may be the last for a while. */
  get quiet(): boolean {
    return this.core.nowUs - this.#lastTransmitUs > ASK_DELAY_US;
  }

  /** Something was acknowledged, and more is under way. */
  onProgress(): void {
    this.#deadlineStands = false;
    this.probing = false;
    this.#resting = this.#probed;
    this.startTimer();
  }

  /** Sets the timer: to ask, or to send again where there is no time for that. */
  startTimer(): void {
    const { ackTimeoutUs, roundTrip } = this.requester;
    const patienceUs = this.#resting
      ? Math.max(MIN_REST_US, roundTrip.usualUs)
      : this.#unasked
        ? Math.min(ASK_DELAY_US, ackTimeoutUs / 2)
        : roundTrip.patienceUs;
    const { nowUs } = this.core;
    if (!this.#deadlineStands) this.#retryAtUs = nowUs + ackTimeoutUs;
    this.#deadlineStands = false;
    this.due = nowUs + patienceUs < this.#retryAtUs;
    this.#arm(this.due ? nowUs + patienceUs : this.#retryAtUs);
  }

  /**
   * Sends the last packet again, to request an acknowledgement of all, when somebody waits for it.
   *
   * @returns false when the peer was asked already, or there is nothing to ask about
   */
  askNow(): boolean {
    const { window, completer } = this.requester;
    if (!this.#unasked || window.nxt !== window.sent || completer.rnrWaiting || window.inFlight === 0) return false;
    this.asking = true;
    window.stepBack();
    return true;
  }

  /** The timer that was set to ask ran out: the next packet asks, or the last one again when there is none. */
  onTimer(): void {
    const { core, requester } = this;
    this.due = false;
    if (requester.window.inFlight === 0) return;
    if (this.#mayStillAsk) {
      this.#putOff = true;
      this.asking = true;
      this.#deadlineStands = true;
      this.startTimer();
    } else if (this.#resting) {
      requester.completer.onRestMissing();
    } else if (this.#unasked && core.nowUs - this.#lastTransmitUs < ASK_DELAY_US / 2) {
      // More was sent in the meantime, and more will probably follow.
      this.asking = true;
      this.startTimer();
    } else if (this.askNow()) {
      this.#deadlineStands = true;
      core.schedule(this.qp, Due.SENDING);
    } else {
      this.#probe();
    }
  }

  /** The probe went out. */
  onProbe(): void {
    this.probing = false;
    this.#probed = true;
  }

  /** The packet that was to ask cannot be sent any more: the retry timer decides. */
  forgo(): void {
    const { core, qp, requester } = this;
    this.asking = false;
    this.probing = false;
    if (requester.window.inFlight === 0 || core.timers.isArmed(qp.timerId)) return;
    this.due = false;
    this.#arm(this.#retryAtUs);
  }

  /**
   * Whether the next packet can ask, because there will be one: it waits for room on its path, for memory, or for its turn. For a queue pair
   * whose turn comes again and again without a packet, that is assumed once only.
   */
  get #mayStillAsk(): boolean {
    const { qp } = this;
    return qp.held || qp.copies?.sending.pending === true || (qp.isDueToSend && !this.#putOff);
  }

  #probe(): void {
    const { core, requester } = this;
    const { roundTrip, completer } = requester;
    const probeUs = this.#lastTransmitUs + roundTrip.patienceUs;
    if (probeUs <= core.nowUs && !completer.rnrWaiting) {
      this.probing = true;
      this.#deadlineStands = true;
      roundTrip.onQuestion();
      completer.onQuestion();
      core.counters.lossProbes += 1;
      requester.lossProbes += 1;
      core.schedule(this.qp, Due.SENDING);
      return;
    }
    this.due = probeUs > core.nowUs && probeUs < this.#retryAtUs;
    this.#arm(this.due ? probeUs : this.#retryAtUs);
  }

  #arm(deadlineUs: number): void {
    this.core.timers.arm(this.qp.timerId, deadlineUs);
  }
}
