import { type QueuePairs } from '../queue-pairs/queue-pairs.js';
import { type Pace } from './pace.js';
import { type Posting } from '../running/posting.js';
import { type Run, expectSuccess } from '../running/run.js';

/** READs or atomics, one after the other; the peer does nothing. */
export class ReadLatency implements Run {
  readonly #queuePairs: QueuePairs;
  readonly #posting: Posting;
  readonly #pace: Pace;
  #awaits = false;

  constructor(queuePairs: QueuePairs, posting: Posting, pace: Pace) {
    this.#queuePairs = queuePairs;
    this.#posting = posting;
    this.#pace = pace;
  }

  get over(): boolean {
    return this.#pace.isTimeOver || (!this.#awaits && !this.#pace.goesOn);
  }

  begin(): void {
    this.#pace.timing?.begin(performance.now());
  }

  step(): boolean {
    this.#pace.look();
    if (!this.#awaits) {
      this.#pace.post();
      this.#posting.one();
      this.#awaits = true;
      return true;
    }
    const { sendCq: cq, context } = this.#queuePairs;
    if (!cq.startPoll()) return false;
    expectSuccess(cq, context);
    cq.endPoll();
    this.#awaits = false;
    this.#pace.count();
    return true;
  }
}
