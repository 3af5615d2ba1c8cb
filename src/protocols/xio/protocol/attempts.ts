/** Times from the beginning of a round of attempts to connect to that of the next, in ms: the first is made at once. */
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 250;
/**
 * How long an attempt to connect again may take, at first; twice as long in each round. The connection manager repeats a lost REQ only after 4 s, so a
 * client that sends a new one finds a server that has returned long before.
 */
const FIRST_ATTEMPT_MS = 100;
/** How long it may take at most, where the server has answered quickly: the next begins {@link LONGEST_PAUSE_MS} after it. */
const LONGEST_ATTEMPT_MS = LONGEST_PAUSE_MS - FIRST_PAUSE_MS;
/** A server that took longer is waited for so many times as long, though no longer than {@link MOST_ATTEMPT_MS}. */
const ANSWER_TIMES = 4;
const MOST_ATTEMPT_MS = 2000;

/** Which address a client tries next, for how long, and after what pause. */
export class Attempts {
  #addresses: readonly string[];
  #index = 0;
  #tried = 0;
  #pauseMs = 0;
  #attemptMs = Infinity;
  #answerMs = Infinity;
  #begunMs = 0;

  constructor(addresses: readonly string[]) {
    this.#addresses = addresses;
  }

  /** What is tried now, or was reached. */
  get address(): string {
    return this.#addresses[this.#index];
  }

  /** How long the attempt may take. */
  get attemptMs(): number {
    return this.#attemptMs;
  }

  /** The server has answered after so long. */
  answered(afterMs: number): void {
    this.#answerMs = Math.min(this.#answerMs, afterMs);
  }

  begin(nowMs: number): void {
    if (this.#tried === 0) this.#begunMs = nowMs;
  }

  use(addresses: readonly string[]): void {
    this.#addresses = addresses;
    this.#index = 0;
    this.#tried = 0;
  }

  /** Whoever was reached is lost, so that it is tried first, and at once. */
  hurry(): void {
    this.again();
    this.#pauseMs = 0;
  }

  /** The same, though not before a pause that is longer than the last: it was of no use. */
  again(): void {
    this.#tried = 0;
    this.#attemptMs = FIRST_ATTEMPT_MS;
  }

  /** One was in vain. @returns whether there is another to be tried at once */
  next(): boolean {
    this.#tried += 1;
    this.#index = (this.#index + 1) % this.#addresses.length;
    return this.#tried < this.#addresses.length;
  }

  /** All were in vain. @returns how many ms to wait before the next round */
  rest(nowMs: number): number {
    this.#tried = 0;
    if (this.#attemptMs !== Infinity) this.#attemptMs = Math.min(2 * this.#attemptMs, this.#longestMs);
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * this.#pauseMs));
    return Math.max(FIRST_PAUSE_MS, this.#pauseMs - (nowMs - this.#begunMs));
  }

  get #longestMs(): number {
    const slowMs = this.#answerMs === Infinity ? 0 : ANSWER_TIMES * this.#answerMs;
    return Math.min(MOST_ATTEMPT_MS, Math.max(LONGEST_ATTEMPT_MS, slowMs));
  }
}
