import { psnDiff } from '../../ibta/index.js';

/** The same gains as everybody's (RFC 6298). */
const SMOOTHED_GAIN = 1 / 8;
const VARIATION_GAIN = 1 / 4;
/** The shortest patience: a peer whose processor does something else for two or three time slices has lost nothing. */
const MIN_PATIENCE_US = 10_000;
/** Each unanswered request for an acknowledgement doubles the patience; so many are sent. */
const MAX_QUESTIONS = 6;

/**
 * How long an acknowledgement takes, measured on packets that request one and were sent once, and how long to wait before
 * requesting it again: the retry timer, which programs set, is usually a thousand times as long as a round trip.
 */
export class RoundTrip {
  /** Smoothed, in us; 0 before the first. */
  smoothedUs = 0;
  /** How much it varies, smoothed likewise. */
  variationUs = 0;
  /** The packet that is being timed, or -1. */
  #psn = -1;
  #sentAtUs = 0;
  #questions = 0;

  reset(): void {
    this.smoothedUs = 0;
    this.variationUs = 0;
    this.#psn = -1;
    this.#questions = 0;
  }

  /** A packet went out for the first time, and is to be answered. */
  onSent(psn: number, nowUs: number): void {
    if (this.#psn >= 0) return;
    this.#psn = psn;
    this.#sentAtUs = nowUs;
  }

  /** Everything before `psn` is acknowledged. */
  onAcknowledged(psn: number, nowUs: number): void {
    this.#questions = 0;
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

  /** Packets are sent again: an acknowledgement may answer either transmission (Karn). */
  forget(): void {
    this.#psn = -1;
  }

  /** An acknowledgement was requested again. */
  onQuestion(): void {
    this.#psn = -1;
    this.#questions += 1;
  }

  /** A round trip as it is when nothing is lost, with all its variation, in us. */
  get usualUs(): number {
    return 2 * this.smoothedUs + 4 * this.variationUs;
  }

  /** How long to wait before that, in us; Infinity when nothing is known, or it was requested often enough. */
  get patienceUs(): number {
    if (this.smoothedUs === 0 || this.#questions >= MAX_QUESTIONS) return Infinity;
    return Math.max(MIN_PATIENCE_US, this.usualUs) * 2 ** this.#questions;
  }
}
