import type { NicCore } from '../nic-core.js';
import type { QpContext } from '../queue-pairs/qp-context.js';
import { Due } from '../queue-pairs/turns.js';
import type { RequesterState } from './requester-state.js';

/**
 * How long after packets that nobody asked to acknowledge one is sent that asks. Long enough for a program to send more,
 * short enough that hardly anybody ends a queue pair before; the requests of one that ends would be flushed though they
 * were delivered.
 */
const ASK_DELAY_US = 250;

/** Who has just answered and is silent for so long has nothing more to say. */
const MIN_REST_US = 250;

/** The requester that asks. */
interface Inquirer extends RequesterState {
  readonly completer: {
    /** Between an RNR NAK and the end of the time that it asked for. */
    readonly rnrWaiting: boolean;
    /** The peer is asked once more: a gap that the answer shows is news. */
    onQuestion(): void;
    /** A probe was answered, and what was behind it is not: it is lost. That takes no retry, for there was progress. */
    onRestMissing(): void;
  };
}

/**
 * Finds out how far the peer has got, when that is not told by itself, before the retry timer runs out, and at the cost of
 * no retry. What asked for no acknowledgement is asked about: the last packet is sent once more. Where an answer is overdue,
 * something was lost, and a probe goes out: the first request that lacks its answer, as a retry would begin, and that alone.
 *
 * A probe does not begin anywhere else. Of a READ it asks for all that is missing, since a responder may forget what a repeat
 * leaves out before it, and rxe does. And a peer that has told of a gap drops in silence all that is behind it, as rxe does
 * until the gap is filled (protocol.md 2.3, row 1): it would not answer to the last packet.
 */
export class Inquiry {
  /** The next packet is to ask for an acknowledgement, whatever it is. */
  asking = false;
  /** The first request that lacks its answer is to be sent once more, and alone. */
  probing = false;
  /** The timer of the queue pair is set to ask, not to send again. */
  due = false;
  /** What was sent last asked for no acknowledgement, nor is it answered otherwise. */
  #unasked = false;
  /** When what is unacknowledged is sent again though there was no answer to asking. */
  #retryAtUs = 0;
  /** The timer ran out and had the peer asked, which does not put that off. */
  #deadlineStands = false;
  /** A probe was sent, and what was under way then is not all acknowledged. */
  #probed = false;
  /** The timer is set for the end of what a probe was answered by. */
  #resting = false;
  #lastTransmitUs = -Infinity;
  /** The timer ran out when the queue pair was about to send, and was set once more. */
  #putOff = false;

  constructor(
    private readonly qp: QpContext,
    private readonly requester: Inquirer,
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

  /** All that is unacknowledged is to be sent again: there is nothing to find out. */
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

  /** Whether nothing was sent for so long that what is sent now may be the last for long. */
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
   * Has the packet that was sent last sent once more, to ask for an acknowledgement of all: somebody waits for that.
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
      // More was sent meanwhile, and more will probably follow.
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

  /** The packet that was to ask cannot be sent any more: what is unacknowledged is sent again when its time comes. */
  forgo(): void {
    const { core, qp, requester } = this;
    this.asking = false;
    this.probing = false;
    if (requester.window.inFlight === 0 || core.timers.isArmed(qp.timerId)) return;
    this.due = false;
    this.#arm(this.#retryAtUs);
  }

  /**
   * Whether the next packet can ask, because there will be one: it waits for room on its way, or for its turn. Of a queue pair
   * whose turn comes again and again, without a packet, that is believed once.
   */
  get #mayStillAsk(): boolean {
    return this.qp.held || (this.qp.isDueToSend && !this.#putOff);
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
