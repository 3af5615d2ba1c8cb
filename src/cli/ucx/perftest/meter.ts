/** What came out of a part of a run. Times are microseconds, bandwidth is 2^20 bytes a second. */
export interface Figures {
  readonly iterations: number;
  readonly latencyUs: Averages & { readonly percentile: number };
  readonly bandwidthMiBs: Averages;
  readonly messageRate: Averages;
}

/** Since the figures before, and since the beginning. */
export interface Averages {
  readonly average: number;
  readonly overall: number;
}

/** Times of the last so many messages make the percentile. */
const RECENT = 2048;
const MIB = 2 ** 20;
const STAGE_MS = 1000;

export class Meter {
  readonly #recent = new Float64Array(RECENT);
  #count = 0;
  #lastMs = 0;
  #beganMs = 0;
  #stageMs = 0;
  #stageCount = 0;

  /**
   * @param messageBytes of one message
   * @param rank of the percentile, 0 to 100
   * @param isPingPong whether an iteration is two messages
   */
  constructor(
    private readonly messageBytes: number,
    private readonly rank: number,
    private readonly isPingPong: boolean,
  ) {}

  get iterations(): number {
    return this.#count;
  }

  /** When the last message was counted: milliseconds. */
  get nowMs(): number {
    return this.#lastMs;
  }

  begin(nowMs: number): void {
    this.#beganMs = this.#stageMs = this.#lastMs = nowMs;
    this.#count = this.#stageCount = 0;
  }

  /** One more. @returns whether it is time for figures */
  tick(nowMs: number): boolean {
    this.#recent[this.#count % RECENT] = nowMs - this.#lastMs;
    this.#count += 1;
    this.#lastMs = nowMs;
    return nowMs - this.#stageMs >= STAGE_MS;
  }

  /** What has come out so far; the next are since these. @param nowMs when all of them were done */
  figures(nowMs = this.#lastMs): Figures {
    const messages = this.isPingPong ? 2 : 1;
    const average = averaged(this.#count - this.#stageCount, nowMs - this.#stageMs, messages);
    const overall = averaged(this.#count, nowMs - this.#beganMs, messages);
    this.#stageCount = this.#count;
    this.#stageMs = nowMs;
    const mib = this.messageBytes / MIB;
    return {
      iterations: this.#count,
      latencyUs: { percentile: this.#percentile(messages), average: average.us, overall: overall.us },
      bandwidthMiBs: { average: average.rate * mib, overall: overall.rate * mib },
      messageRate: { average: average.rate, overall: overall.rate },
    };
  }

  #percentile(messages: number): number {
    const length = Math.min(this.#count, RECENT);
    if (length === 0) return 0;
    const sorted = this.#recent.slice(0, length).sort();
    return (sorted[Math.min(length - 1, Math.floor((length * this.rank) / 100))] * 1000) / messages;
  }
}

/** Microseconds of a message, and messages a second; 0 where there were none. */
function averaged(iterations: number, elapsedMs: number, messages: number): { us: number; rate: number } {
  if (iterations === 0 || elapsedMs <= 0) return { us: 0, rate: 0 };
  const us = (elapsedMs * 1000) / iterations / messages;
  return { us, rate: 1e6 / us };
}
