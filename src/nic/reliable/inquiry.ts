import { Due, type NicCore } from '../nic-core.js';
import type { QueuePair } from '../queue-pair.js';
import type { ReliableRequester } from './requester.js';

/**
 * How long after packets that nobody asked to acknowledge one is sent that asks. Long enough for a program to send more,
 * short enough that hardly anybody ends a queue pair before; the requests of one that ends would be flushed though they
 * were delivered.
 */
const ASK_DELAY_US = 250;

/**
 * Finds out how far the peer has got, when that is not told by itself: what asked for no acknowledgement, or had none in the
 * time that a round trip takes, is asked about before the retry timer runs out, and at the cost of no retry. Who asks sends
 * the last packet once more. Of a READ that is a request for its last response, which is missing as well whatever was lost;
 * when it was not alone, its coming shows the gap.
 */
export class Inquiry {
  /** The next packet is to ask for an acknowledgement, whatever it is. */
  asking = false;
  /** The timer of the queue pair is set to ask, not to send again. */
  due = false;
  /** What was sent last asked for no acknowledgement, nor is it answered otherwise. */
  #unasked = false;
  /** When what is unacknowledged is sent again though there was no answer to asking. */
  #retryAtUs = 0;
  /** The timer ran out and had the peer asked, which does not put that off. */
  #deadlineStands = false;
  #lastTransmitUs = -Infinity;
  /** The timer ran out when the queue pair was about to send, and was set once more. */
  #putOff = false;

  constructor(
    private readonly qp: QueuePair,
    private readonly requester: ReliableRequester,
    private readonly core: NicCore,
  ) {}

  reset(): void {
    this.asking = false;
    this.#lastTransmitUs = -Infinity;
    this.settle();
  }

  /** All that was sent is acknowledged. */
  settle(): void {
    this.#unasked = false;
    this.#deadlineStands = false;
    this.due = false;
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
    this.startTimer();
  }

  /** Sets the timer: to ask, or to send again where there is no time for that. */
  startTimer(): void {
    const { ackTimeoutUs, roundTrip } = this.requester;
    const patienceUs = this.#unasked ? Math.min(ASK_DELAY_US, ackTimeoutUs / 2) : roundTrip.patienceUs;
    const { nowUs } = this.core;
    if (!this.#deadlineStands) this.#retryAtUs = nowUs + ackTimeoutUs;
    this.#deadlineStands = false;
    this.due = nowUs + patienceUs < this.#retryAtUs;
    this.#arm(this.due ? nowUs + patienceUs : this.#retryAtUs);
  }

  /**
   * Has the packet that was sent last sent once more, to ask for an acknowledgement of all: somebody waits for that.
   *
   * @param again also when the peer was asked: the question, the packet or what it told may be lost
   * @returns false when the peer was asked already, or there is nothing to ask about
   */
  askNow(again = false): boolean {
    const { window, completer } = this.requester;
    if (!again && (!this.#unasked || window.nxt !== window.sent)) return false;
    if (completer.rnrWaiting || window.inFlight === 0) return false;
    this.asking = true;
    window.stepBack();
    return true;
  }

  /** The timer that was set to ask ran out: the next packet asks, or the last one again when there is none. */
  onTimer(): void {
    const { core, requester } = this;
    this.due = false;
    if (this.#mayStillAsk) {
      this.#putOff = true;
      this.asking = true;
      this.#deadlineStands = true;
      this.startTimer();
    } else if (this.#unasked && core.nowUs - this.#lastTransmitUs < ASK_DELAY_US / 2) {
      // More was sent meanwhile, and more will probably follow.
      this.asking = true;
      this.startTimer();
    } else if (this.askNow()) {
      this.#deadlineStands = true;
      core.schedule(this.qp, Due.SENDING);
    } else if (requester.window.inFlight > 0) {
      this.#askAgain();
    }
  }

  /** The packet that was to ask cannot be sent any more: what is unacknowledged is sent again when its time comes. */
  forgo(): void {
    const { core, qp, requester } = this;
    this.asking = false;
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

  #askAgain(): void {
    const { core, requester } = this;
    const { roundTrip } = requester;
    const askUs = this.#lastTransmitUs + roundTrip.patienceUs;
    if (askUs <= core.nowUs && this.askNow(true)) {
      this.#deadlineStands = true;
      roundTrip.onQuestion();
      requester.completer.onQuestion();
      core.counters.lossProbes += 1;
      requester.lossProbes += 1;
      core.schedule(this.qp, Due.SENDING);
      return;
    }
    this.due = askUs > core.nowUs && askUs < this.#retryAtUs;
    this.#arm(this.due ? askUs : this.#retryAtUs);
  }

  #arm(deadlineUs: number): void {
    this.core.timers.arm(this.qp.timerId, deadlineUs);
  }
}
