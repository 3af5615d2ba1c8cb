/** When a request is sent again (RFC 6298, by which TCP goes, in µs). */
export interface RepeatRules {
  /** How long the first one is waited for. */
  readonly initialUs: number;
  /** No wait is shorter, or longer, than that. */
  readonly leastUs: number;
  readonly mostUs: number;
  /** The smoothed time of a round trip takes such a share of each new one, its variation such a share of each new difference. */
  readonly gain: number;
  readonly variationGain: number;
  /** How many variations longer than the smoothed time one waits. */
  readonly variations: number;
  /** By what the wait grows with each repeat. */
  readonly backoff: number;
  /** How long a request is repeated, before the server is taken to be gone. */
  readonly patienceUs: number;
  /** How long nothing is heard while a request is repeated, before another way to the server is looked for. */
  readonly silenceUs: number;
  /**
   * Slots are memory that the server reads: a request has its own until it is answered, though nobody waits for it any more. Written over while it is read, it
   * would be a mixture of two.
   */
  readonly slotsAreMemory: boolean;
}

const RFC_6298 = { gain: 1 / 8, variationGain: 1 / 4, variations: 4, backoff: 2 };

/** Where requests and answers are lost, and nobody tells that the server is gone. */
export const LOSSY: RepeatRules = {
  ...RFC_6298,
  initialUs: 20_000,
  leastUs: 1000,
  mostUs: 500_000,
  patienceUs: 10e6,
  silenceUs: 2e6,
  slotsAreMemory: false,
};

/** The same where requests are written to memory of the server's. */
export const LOSSY_MEMORY: RepeatRules = { ...LOSSY, slotsAreMemory: true };

/** Where adapters repeat what is lost, and only a server that has lost its memory of a request, or its time, leaves one unanswered. */
export const RELIABLE: RepeatRules = {
  ...LOSSY,
  initialUs: 1e6,
  leastUs: 500_000,
  mostUs: 4e6,
  silenceUs: Infinity,
};

/** How long round trips take, as far as is known, and so how long an answer is waited for. */
export class RttEstimator {
  #smoothedUs = 0;
  #variationUs = 0;
  #waitUs: number;

  constructor(private readonly rules: RepeatRules) {
    this.#waitUs = rules.initialUs;
  }

  /** How long the first transmission of a request is waited for. */
  get waitUs(): number {
    return this.#waitUs;
  }

  /** The smoothed time; 0 while none is known. */
  get smoothedUs(): number {
    return this.#smoothedUs;
  }

  /**
   * An answer has come after so long to a request that was sent once. Of one that was repeated nobody knows which transmission was
   * answered (Karn's rule).
   */
  measured(us: number): void {
    const { gain, variationGain, variations, leastUs, mostUs } = this.rules;
    if (this.#smoothedUs === 0) {
      this.#smoothedUs = us;
      this.#variationUs = us / 2;
    } else {
      this.#variationUs += variationGain * (Math.abs(this.#smoothedUs - us) - this.#variationUs);
      this.#smoothedUs += gain * (us - this.#smoothedUs);
    }
    this.#waitUs = Math.min(mostUs, Math.max(leastUs, this.#smoothedUs + variations * this.#variationUs));
  }

  /** How long a request that was repeated so often is waited for. What is sent next waits as long, until a time is measured. */
  repeated(times: number): number {
    const { backoff, mostUs } = this.rules;
    const us = Math.min(mostUs, this.#baseUs() * backoff ** times);
    this.#waitUs = Math.max(this.#waitUs, us);
    return us;
  }

  #baseUs(): number {
    const { initialUs, leastUs, variations } = this.rules;
    if (this.#smoothedUs === 0) return initialUs;
    return Math.max(leastUs, this.#smoothedUs + variations * this.#variationUs);
  }
}
