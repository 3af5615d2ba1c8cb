import { type Count } from './bandwidth.js';
import { type QueuePairs } from '../queue-pairs/queue-pairs.js';
import { type Receiving } from '../running/posting.js';
import { BATCH, type Run, expectSuccess } from '../running/run.js';
import { type Settings } from '../settings.js';
import { type Timing } from '../running/timing.js';

/** Takes messages until all have come, or the time is over. */
export class Receiver implements Run {
  readonly #queuePairs: QueuePairs;
  readonly #receiving: Receiving;
  readonly #timing: Timing | undefined;
  readonly #iterations: number;
  readonly #total: number;
  readonly #posted: Float64Array;
  /** Receive requests that completed since the last list was posted. */
  readonly #unused: Float64Array;
  readonly #list: number;
  #received = 0;
  #counted = 0;
  #begunMs = 0;
  #endedMs = 0;
  #givenUp = false;

  /**
   * Posts the first receive requests.
   *
   * @param timing when the run ends and what counts, where no number of messages says it
   */
  constructor(queuePairs: QueuePairs, settings: Settings, receiving: Receiving, timing: Timing | undefined) {
    const { iterations, qps, rxDepth, sharedReceives, recvPostList } = settings;
    this.#queuePairs = queuePairs;
    this.#receiving = receiving;
    this.#timing = timing;
    this.#iterations = iterations;
    this.#total = iterations * qps;
    this.#posted = new Float64Array(qps);
    this.#unused = new Float64Array(qps);
    this.#list = recvPostList;
    const each = sharedReceives ? Math.floor(rxDepth / qps) : rxDepth;
    for (let qpIndex = 0; qpIndex < qps; qpIndex += 1)
      for (let i = this.#list; i <= each; i += this.#list) this.#post(qpIndex);
  }

  get over(): boolean {
    if (this.#givenUp) return true;
    return this.#timing === undefined ? this.#received >= this.#total : this.#timing.over;
  }

  get hasBegun(): boolean {
    return this.#received > 0;
  }

  /** How many messages did not come. */
  get lost(): number {
    return this.#givenUp ? this.#total - this.#received : 0;
  }

  begin(): void {
    if (this.hasBegun) this.#timing?.begin(performance.now());
  }

  giveUp(): void {
    this.#givenUp = this.#timing === undefined;
  }

  step(): boolean {
    if (this.#timing?.hasBegun === true) this.#timing.look(performance.now());
    return this.take();
  }

  /** Takes what has come. @returns whether there was anything */
  take(): boolean {
    const { recvCq: cq, context } = this.#queuePairs;
    if (!cq.startPoll()) return false;
    if (this.#received === 0) this.#noteFirst();
    let left = BATCH;
    do {
      expectSuccess(cq, context);
      if (this.#received === 0) this.#receiving.look(cq.byteLen);
      const qpIndex = cq.wrIdNumber;
      this.#received += 1;
      if (this.#timing?.counts === true) this.#counted += 1;
      this.#refill(qpIndex);
      left -= 1;
    } while (left > 0 && cq.nextPoll());
    cq.endPoll();
    this.#endedMs = performance.now();
    return true;
  }

  /** What was counted so far, which is then counted no more. */
  result(): Count {
    const { sampledMs = this.#endedMs - this.#begunMs } = this.#timing ?? {};
    const messages = this.#timing === undefined ? this.#received : this.#counted;
    this.#counted = 0;
    return { messages, elapsedMs: sampledMs, fastestMs: Infinity };
  }

  /** What has come up to now, when the user ends the run before its end. */
  cut(nowMs: number): Count {
    return { messages: this.#received, elapsedMs: nowMs - this.#begunMs, fastestMs: Infinity };
  }

  #noteFirst(): void {
    this.#begunMs = performance.now();
    if (this.#timing?.hasBegun === false) this.#timing.begin(this.#begunMs);
  }

  #post(qpIndex: number): void {
    this.#receiving.post(qpIndex);
    this.#posted[qpIndex] += this.#list;
  }

  /** A receive request has completed: posts another list when one has, unless the messages end before. */
  #refill(qpIndex: number): void {
    this.#unused[qpIndex] += 1;
    if (this.#unused[qpIndex] < this.#list || this.#posted[qpIndex] + this.#list > this.#iterations) return;
    this.#unused[qpIndex] -= this.#list;
    this.#post(qpIndex);
  }
}
