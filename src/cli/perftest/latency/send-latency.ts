import { type QueuePairs } from '../queue-pairs/queue-pairs.js';
import { type Pace } from './pace.js';
import { type Posting, type Receiving } from '../running/posting.js';
import { type Run, expectSuccess } from '../running/run.js';
import { type Settings } from '../settings.js';

/** SENDs to and fro: a side sends when the other's message has come, and its own has completed. */
export class SendLatency implements Run {
  readonly #queuePairs: QueuePairs;
  readonly #posting: Posting;
  readonly #receiving: Receiving;
  readonly #pace: Pace;
  readonly #iterations: number;
  #receivesPosted = 0;
  #received = 0;
  #awaitsSend = false;
  #awaitsMessage: boolean;

  constructor(queuePairs: QueuePairs, settings: Settings, posting: Posting, receiving: Receiving, pace: Pace) {
    this.#queuePairs = queuePairs;
    this.#posting = posting;
    this.#receiving = receiving;
    this.#pace = pace;
    this.#iterations = settings.iterations;
    this.#awaitsMessage = !settings.active;
    for (let i = 0; i < settings.rxDepth; i += 1) this.#receive();
  }

  get over(): boolean {
    return this.#pace.isTimeOver || (!this.#awaitsSend && !this.#awaitsMessage && !this.#pace.goesOn);
  }

  step(): boolean {
    this.#pace.look();
    if (!this.#awaitsSend && !this.#awaitsMessage) {
      this.#send();
      return true;
    }
    return this.#awaitsSend ? this.#takeSend() : this.#takeMessage();
  }

  #send(): void {
    this.#pace.post();
    this.#posting.one();
    this.#awaitsSend = true;
    // Of both sides the one that began is owed an answer.
    this.#awaitsMessage = this.#received < this.#iterations;
  }

  #takeSend(): boolean {
    const { sendCq: cq, context } = this.#queuePairs;
    if (!cq.startPoll()) return false;
    expectSuccess(cq, context);
    cq.endPoll();
    this.#awaitsSend = false;
    return true;
  }

  #takeMessage(): boolean {
    const { recvCq: cq, context } = this.#queuePairs;
    if (!cq.startPoll()) return false;
    expectSuccess(cq, context);
    if (this.#received === 0) this.#receiving.look(cq.byteLen);
    cq.endPoll();
    const { timing } = this.#pace;
    if (timing?.hasBegun === false) timing.begin(performance.now());
    this.#received += 1;
    this.#pace.count();
    if (this.#receivesPosted < this.#iterations) this.#receive();
    this.#awaitsMessage = false;
    return true;
  }

  #receive(): void {
    this.#receiving.post(0);
    this.#receivesPosted += 1;
  }
}
