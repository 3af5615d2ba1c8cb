import type { ProbeClock } from './peer-probes.js';

/** How an idle connection is watched. */
export interface KeepAliveSettings {
  /** Milliseconds of silence before the peer is probed; Infinity: it is never probed. */
  readonly keepAliveMs: number;
  /** Milliseconds between probes. */
  readonly keepAliveIntervalMs: number;
  /** Unanswered probes before the connection is given up. */
  readonly keepAliveProbes: number;
}

export interface Watched {
  /** Grows with everything that was heard of the peer. */
  readonly heard: () => number;
  readonly probe: () => void;
  /** The peer did not answer the last probe. */
  readonly giveUp?: () => void;
}

/** Probes the peer of an idle connection. A connection in use pays with a look at a number now and then. */
export class KeepAlive {
  #heard = 0;
  #asked = 0;
  #stop: (() => void) | undefined;
  #hasEnded = false;

  constructor(
    private readonly clock: ProbeClock,
    private readonly settings: KeepAliveSettings,
    private readonly watched: Watched,
  ) {
    if (settings.keepAliveMs !== Infinity) this.#wait(settings.keepAliveMs);
  }

  /** For peers whose adapter ends the connection itself when it does not answer: probes them without end after so much silence. */
  static endless(clock: ProbeClock, periodMs: number, watched: Watched): KeepAlive {
    const settings = { keepAliveMs: periodMs, keepAliveIntervalMs: periodMs, keepAliveProbes: Infinity };
    return new KeepAlive(clock, settings, watched);
  }

  /** Idempotent. */
  end(): void {
    this.#hasEnded = true;
    this.#stop?.();
  }

  #wait(delayMs: number): void {
    // The probe found the connection gone.
    if (this.#hasEnded) return;
    this.#stop = this.clock.chore(delayMs, () => this.#look());
  }

  #look(): void {
    const { keepAliveMs, keepAliveIntervalMs, keepAliveProbes } = this.settings;
    const heard = this.watched.heard();
    if (heard !== this.#heard) {
      this.#heard = heard;
      this.#asked = 0;
      this.#wait(keepAliveMs);
      return;
    }
    if (this.#asked === keepAliveProbes) {
      this.watched.giveUp?.();
      return;
    }
    this.#asked += 1;
    this.watched.probe();
    this.#wait(keepAliveIntervalMs);
  }
}
