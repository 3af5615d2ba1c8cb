import { type Count } from './bandwidth.js';
import { type Lanes } from '../queue-pairs/lanes.js';
import { type Receiving } from '../running/posting.js';
import { BATCH, type Run, expectSuccess } from '../running/run.js';
import { type Settings } from '../settings.js';
import { type Timing } from '../running/timing.js';

/** Takes messages until all have come, or the time is over. */
export class Receiver implements Run {
  readonly #lanes: Lanes;
  readonly #receiving: Receiving;
  readonly #timing: Timing | undefined;
  readonly #iterations: number;
  readonly #total: number;
  /** By lane. */
  readonly #posted: Float64Array;
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
  constructor(lanes: Lanes, settings: Settings, receiving: Receiving, timing: Timing | undefined) {
    const { iterations, qps, rxDepth, sharedReceives } = settings;
    this.#lanes = lanes;
    this.#receiving = receiving;
    this.#timing = timing;
    this.#iterations = iterations;
    this.#total = iterations * qps;
    this.#posted = new Float64Array(qps);
    const each = sharedReceives ? Math.floor(rxDepth / qps) : rxDepth;
    for (let lane = 0; lane < qps; lane += 1) for (let i = 0; i < each; i += 1) this.#post(lane);
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

  /** The first time begins with the first message. */
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
    const { recvCq: cq, context } = this.#lanes;
    if (!cq.startPoll()) return false;
    if (this.#received === 0) this.#noteFirst();
    let left = BATCH;
    do {
      expectSuccess(cq, context);
      if (this.#received === 0) this.#receiving.look(cq.byteLen);
      const lane = cq.wrIdNumber;
      this.#received += 1;
      if (this.#timing?.counts === true) this.#counted += 1;
      if (this.#posted[lane] < this.#iterations) this.#post(lane);
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

  #noteFirst(): void {
    this.#begunMs = performance.now();
    if (this.#timing?.hasBegun === false) this.#timing.begin(this.#begunMs);
  }

  #post(lane: number): void {
    this.#receiving.post(lane);
    this.#posted[lane] += 1;
  }
}
