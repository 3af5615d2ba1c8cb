import { psnDiff } from '../../ibta/index.js';

/** The gains of RFC 6298. */
const SMOOTHED_GAIN = 1 / 8;
const VARIATION_GAIN = 1 / 4;
/** The shortest probe timeout: a peer whose processor runs other programs for two or three time slices has lost nothing. */
const MIN_PTO_US = 10_000;
/** Each unanswered probe doubles the timeout; the requester sends at most this many. */
const MAX_PROBES = 6;

/**
 * Measures how long an acknowledgement takes, on packets that request one and were sent once, and derives the probe timeout. The
 * retry timer, which programs set, is usually a thousand times as long as a round trip.
 */
export class RttEstimator {
  /** Smoothed round trip, in us; 0 before the first sample. */
  smoothedUs = 0;
  variationUs = 0;
  /** The packet that is being timed, or -1. */
  #psn = -1;
  #sentAtUs = 0;
  #probes = 0;

  reset(): void {
    this.smoothedUs = 0;
    this.variationUs = 0;
    this.#psn = -1;
    this.#probes = 0;
  }

  /** The first transmission of a packet that the peer must answer. */
  onSent(psn: number, nowUs: number): void {
    if (this.#psn >= 0) return;
    this.#psn = psn;
    this.#sentAtUs = nowUs;
  }

  /** All packets before `psn` are acknowledged. */
  onAcknowledged(psn: number, nowUs: number): void {
    this.#probes = 0;
    if (this.#psn < 0 || psnDiff(psn, this.#psn) <= 0) return;
    this.#psn = -1;
    const us = nowUs - this.#sentAtUs;
    if (this.smoothedUs === 0) {
      this.smoothedUs = us;
      this.variationUs = us / 2;
    } else {
      this.variationUs += VARIATION_GAIN * (Math.abs(us - this.smoothedUs) - this.variationUs);
      this.smoothedUs += SMOOTHED_GAIN * (us - this.smoothedUs);
    }
  }

  /** Packets are retransmitted: an acknowledgement may answer either transmission (Karn's algorithm). */
  forget(): void {
    this.#psn = -1;
  }

  onProbe(): void {
    this.#psn = -1;
    this.#probes += 1;
  }

  /** The longest usual round trip without loss, in us. */
  get usualUs(): number {
    return 2 * this.smoothedUs + 4 * this.variationUs;
  }

  /** Probe timeout: how long to wait for an answer before probing, in us; Infinity without a sample or after the last probe. */
  get ptoUs(): number {
    if (this.smoothedUs === 0 || this.#probes >= MAX_PROBES) return Infinity;
    return Math.max(MIN_PTO_US, this.usualUs) * 2 ** this.#probes;
  }
}
