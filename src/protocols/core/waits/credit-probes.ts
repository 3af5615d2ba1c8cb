const FIRST_MS = 500;
const MOST_MS = 2000;

/** An end of a connection that may wait for its peer. */
export interface Prober {
  /** Whether it has something to send, and the peer gives no credit for it. */
  readonly awaitsCredit: boolean;
  /** Asks the peer's adapter for an acknowledgement, unless one is on its way: a zero-length RDMA WRITE. */
  probe(): void;
}

export interface ProbeClock {
  chore(delayMs: number, action: () => void): () => void;
}

/**
 * Probes the peer of an end that waits for credit, as TCP probes a window of zero (RFC 9293 3.8.6.1). While that end waits nothing of it is under way, so nothing would
 * fail when the peer is gone. The peer's adapter acknowledges a probe whatever its program does, so a program that only does not read stays connected.
 */
export class CreditProbes {
  #delayMs = FIRST_MS;
  #stop: (() => void) | undefined;
  #hasEnded = false;

  constructor(
    private readonly clock: ProbeClock,
    private readonly prober: Prober,
  ) {}

  /** The end has something to send that it could not send. Idempotent, and cheap. */
  start(): void {
    if (this.#stop !== undefined || this.#hasEnded) return;
    this.#delayMs = FIRST_MS;
    this.#wait();
  }

  /** Idempotent. */
  end(): void {
    this.#hasEnded = true;
    this.#stop?.();
    this.#stop = undefined;
  }

  #wait(): void {
    this.#stop = this.clock.chore(this.#delayMs, () => {
      this.#stop = undefined;
      if (this.#hasEnded || !this.prober.awaitsCredit) return;
      this.#delayMs = Math.min(2 * this.#delayMs, MOST_MS);
      this.#wait();
      this.prober.probe();
    });
  }
}
