/** Times between rounds of attempts to connect, in ms: the first is made at once. */
const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 250;
/**
 * How long an attempt to connect again may take, at first; twice as long in each round. The connection manager repeats what was lost after 4 s only, so whoever
 * begins anew finds a server that has returned long before.
 */
const FIRST_ATTEMPT_MS = 100;

/** Which address a client tries next, for how long, and after what pause. */
export class Attempts {
  #addresses: readonly string[];
  #index = 0;
  #tried = 0;
  #pauseMs = 0;
  #attemptMs = Infinity;

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

  /** Other addresses are tried from now on, from the first. */
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
  rest(): number {
    this.#tried = 0;
    this.#attemptMs *= 2;
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * this.#pauseMs));
    return this.#pauseMs;
  }
}
