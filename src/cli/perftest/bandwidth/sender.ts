import { type Count } from './bandwidth.js';
import { type QueuePairs } from '../queue-pairs/queue-pairs.js';
import { fastestMs } from './peak.js';
import { type Posting } from '../running/posting.js';
import { BATCH, type Run, expectSuccess } from '../running/run.js';
import { RateLimiter } from './rate-limiter.js';
import { type Settings } from '../settings.js';
import { type Timing } from '../running/timing.js';

const NOTHING = new Float64Array(0);

/** Keeps the send queues full until all messages have completed, or the time is over. */
export class Sender implements Run {
  readonly #queuePairs: QueuePairs;
  readonly #posting: Posting;
  readonly #timing: Timing | undefined;
  readonly #iterations: number;
  readonly #total: number;
  readonly #depth: number;
  readonly #list: number;
  readonly #cqMod: number;
  readonly #limiter: RateLimiter | undefined;
  readonly #posted: Float64Array;
  readonly #completed: Float64Array;
  /** By message, where the peak is looked for. */
  readonly #postedAt: Float64Array;
  readonly #completedAt: Float64Array;
  #postedTotal = 0;
  /** There is room, but the rate forbids more for now: neither the peer is silent, nor is there time to sleep. */
  #awaitsBurst = false;
  #completedTotal = 0;
  #counted = 0;
  #begunMs = 0;
  #endedMs = 0;

  /** @param timing when the run ends and what counts, where no number of messages says it */
  constructor(queuePairs: QueuePairs, settings: Settings, posting: Posting, timing: Timing | undefined) {
    const { iterations, qps, txDepth, postList, cqMod, peak, rate } = settings;
    this.#queuePairs = queuePairs;
    this.#posting = posting;
    this.#timing = timing;
    this.#iterations = iterations;
    this.#total = iterations * qps;
    this.#depth = txDepth;
    this.#list = postList;
    this.#cqMod = cqMod;
    this.#limiter = rate === undefined ? undefined : new RateLimiter(rate, posting.sizeBytes);
    this.#posted = new Float64Array(qps);
    this.#completed = new Float64Array(qps);
    this.#postedAt = peak ? new Float64Array(this.#total) : NOTHING;
    this.#completedAt = peak ? new Float64Array(this.#total) : NOTHING;
  }

  get over(): boolean {
    return this.#timing === undefined ? this.#completedTotal >= this.#total : this.#timing.over;
  }

  begin(): void {
    this.#timing?.begin(performance.now());
  }

  step(): boolean {
    this.#timing?.look(performance.now());
    const posted = this.post();
    return this.take() || posted || this.#awaitsBurst;
  }

  /** Posts as much as there is room for. @returns whether there was any */
  post(): boolean {
    if (this.#timing?.over === true) return false;
    const before = this.#postedTotal;
    this.#awaitsBurst = false;
    for (let qpIndex = 0; qpIndex < this.#posted.length; qpIndex += 1) {
      const most = Math.min(this.#iterations, this.#completed[qpIndex] + this.#depth) - this.#list;
      if (this.#limiter !== undefined) this.#postBurst(qpIndex, most, this.#limiter);
      else while (this.#posted[qpIndex] <= most) this.#postList(qpIndex);
    }
    return this.#postedTotal > before;
  }

  /** Takes what has completed. @returns whether there was anything */
  take(): boolean {
    const { sendCq: cq, context } = this.#queuePairs;
    if (!cq.startPoll()) return false;
    let left = BATCH;
    do {
      expectSuccess(cq, context);
      this.#complete(cq.wrIdNumber);
      left -= 1;
    } while (left > 0 && cq.nextPoll());
    cq.endPoll();
    return true;
  }

  /** What was counted so far, which is then counted no more. */
  result(): Count {
    const { sampledMs = this.#endedMs - this.#begunMs } = this.#timing ?? {};
    const messages = this.#timing === undefined ? this.#completedTotal : this.#counted;
    this.#counted = 0;
    const times = {
      posted: this.#postedAt,
      completed: this.#completedAt,
      count: this.#postedAt.length,
    };
    return {
      messages,
      elapsedMs: sampledMs,
      fastestMs: times.count === 0 ? Infinity : fastestMs(times),
    };
  }

  /** What has completed up to now, when the user ends the run before its end. */
  cut(nowMs: number): Count {
    return {
      messages: this.#completedTotal,
      elapsedMs: nowMs - this.#begunMs,
      fastestMs: Infinity,
    };
  }

  /** Posts until there is no room, or the rate forbids more. */
  #postBurst(qpIndex: number, most: number, limiter: RateLimiter): void {
    if (this.#posted[qpIndex] > most) return;
    if (!limiter.admits(performance.now())) {
      this.#awaitsBurst = true;
      return;
    }
    do this.#postList(qpIndex);
    while (limiter.count(this.#list) && this.#posted[qpIndex] <= most);
  }

  #postList(qpIndex: number): void {
    const posting = this.#posting;
    const isTimed = this.#postedAt.length > 0;
    if (isTimed || this.#postedTotal === 0) {
      const now = performance.now();
      if (this.#postedTotal === 0) this.#begunMs = now;
      if (isTimed) this.#postedAt.fill(now, this.#postedTotal, this.#postedTotal + this.#list);
    }
    const first = this.#posted[qpIndex] + 1;
    posting.begin(qpIndex);
    for (let number = first; number < first + this.#list; number += 1) {
      posting.add(qpIndex, number % this.#cqMod === 0 || number === this.#iterations);
    }
    posting.end(qpIndex);
    this.#posted[qpIndex] += this.#list;
    this.#postedTotal += this.#list;
  }

  /** An entry stands for all messages since the one before. */
  #complete(qpIndex: number): void {
    const messages = Math.min(this.#cqMod, this.#iterations - this.#completed[qpIndex]);
    this.#completed[qpIndex] += messages;
    this.#completedTotal += messages;
    if (this.#timing?.counts === true) this.#counted += messages;
    if (this.#completedAt.length > 0) this.#completedAt[this.#completedTotal - 1] = performance.now();
    if (this.#completedTotal === this.#total) this.#endedMs = performance.now();
  }
}
