import { type QueuePairs } from '../queue-pairs/queue-pairs.js';
import { type Pace } from './pace.js';
import { type Posting } from '../running/posting.js';
import { type Run, expectSuccess } from '../running/run.js';
import { type Settings } from '../settings.js';

/** WRITEs to and fro: the last byte of each is its number, and a side writes when it sees the other's. */
export class WriteLatency implements Run {
  readonly #queuePairs: QueuePairs;
  readonly #posting: Posting;
  readonly #pace: Pace;
  readonly #bytes: Uint8Array;
  readonly #ownAt: number;
  readonly #theirsAt: number;
  readonly #iterations: number;
  readonly #isInline: boolean;
  #seen = 0;
  #awaitsSend = false;
  #awaitsByte: boolean;

  constructor(queuePairs: QueuePairs, settings: Settings, posting: Posting, pace: Pace) {
    const { memory } = queuePairs;
    const { sizeBytes } = posting;
    this.#queuePairs = queuePairs;
    this.#posting = posting;
    this.#pace = pace;
    this.#bytes = memory.mr.bytes;
    this.#ownAt = memory.departures(0) + sizeBytes - 1;
    this.#theirsAt = memory.arrivals(queuePairs.arrivalOf(0)) + sizeBytes - 1;
    this.#iterations = settings.iterations;
    this.#isInline = queuePairs.context.host === 'inline';
    // Here it is the server that begins.
    this.#awaitsByte = settings.active;
  }

  get over(): boolean {
    return this.#pace.isTimeOver || (!this.#awaitsSend && !this.#awaitsByte && !this.#pace.goesOn);
  }

  begin(): void {
    this.#pace.timing?.begin(performance.now());
  }

  /** Of a certain time, a side that began earlier ends earlier, and does not wait for the other. */
  part(): boolean {
    this.#pace.timing?.end(performance.now());
    return this.#pace.isTimeOver;
  }

  step(): boolean {
    this.#pace.look();
    if (this.#awaitsSend) return this.#takeSend();
    if (this.#awaitsByte) return this.#takeByte();
    const number = this.#pace.post();
    Atomics.store(this.#bytes, this.#ownAt, number & 0xff);
    this.#posting.one();
    this.#awaitsSend = true;
    this.#awaitsByte = this.#seen < this.#iterations;
    return true;
  }

  #takeSend(): boolean {
    const { sendCq: cq, context } = this.#queuePairs;
    if (!cq.startPoll()) return false;
    expectSuccess(cq, context);
    cq.endPoll();
    this.#awaitsSend = false;
    this.#pace.count();
    return true;
  }

  #takeByte(): boolean {
    // Nothing completes here when the peer writes, but an inline NIC takes its turns only when it is looked at.
    if (this.#isInline && this.#takeSend()) return true;
    if (Atomics.load(this.#bytes, this.#theirsAt) !== ((this.#seen + 1) & 0xff)) return false;
    this.#seen += 1;
    this.#awaitsByte = false;
    return true;
  }
}
