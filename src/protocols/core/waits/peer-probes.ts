const FIRST_MS = 500;
const MOST_MS = 2000;

/** An end of a connection that may wait for its peer. */
export interface Prober {
  /** Whether it waits for the peer: for credit, or for the answer to a message that the peer's adapter has acknowledged. */
  readonly awaitsPeer: boolean;
  /** Grows with every message of the peer: one that was heard of is not probed. Default: it is probed in any case. */
  readonly heard?: number;
  /** Asks the peer's adapter for an acknowledgement, unless one is on its way: a zero-length RDMA WRITE. */
  probe(): void;
}

/** What tells the time. */
export interface ProbeClock {
  chore(delayMs: number, action: () => void): () => void;
}

/**
 * Probes the peer of an end that waits for it, as TCP probes a window of zero (RFC 9293 3.8.6.1). While that end waits nothing of it is
 * under way, so nothing would fail when the peer is gone. The peer's adapter acknowledges a probe whatever its program does, so a program
 * that only does not read, or computes for long, stays connected.
 */
export class PeerProbes {
  #delayMs = FIRST_MS;
  #heard = 0;
  #stop: (() => void) | undefined;
  #hasEnded = false;

  /** @param mostMs the longest time between two probes: each is twice as long as the one before */
  constructor(
    private readonly clock: ProbeClock,
    private readonly prober: Prober,
    private readonly mostMs = MOST_MS,
  ) {}

  /** The end waits for its peer. Idempotent, and cheap. */
  start(): void {
    if (this.#stop !== undefined || this.#hasEnded) return;
    this.#delayMs = FIRST_MS;
    this.#heard = this.prober.heard ?? 0;
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
      if (this.#hasEnded || !this.prober.awaitsPeer) return;
      const { heard = this.#heard } = this.prober;
      const isSilent = heard === this.#heard;
      this.#heard = heard;
      this.#delayMs = isSilent ? Math.min(2 * this.#delayMs, this.mostMs) : FIRST_MS;
      this.#wait();
      if (isSilent) this.prober.probe();
    });
  }
}
