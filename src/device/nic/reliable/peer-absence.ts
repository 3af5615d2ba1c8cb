/**
 * So long after its peer is gone a program is not told that its requests have failed. Programs may have sent more than they need, and end
 * when they have what they wait for: with adapters, that tell of it after their retries, hardly any of them ever sees the failure.
 */
const GRACE_US = 100_000;

/** Whether the NIC of the peer is gone, so that no answer will ever come. */
export class PeerAbsence {
  #endsAtUs = Infinity;

  get isGone(): boolean {
    return this.#endsAtUs !== Infinity;
  }

  begin(nowUs: number): void {
    this.#endsAtUs = Math.min(this.#endsAtUs, nowUs + GRACE_US);
  }

  end(): void {
    this.#endsAtUs = Infinity;
  }

  /** How long requests still wait, µs. @param answered an answer has come and waits for memory: its request has gone well */
  patienceUs(nowUs: number, answered: boolean): number {
    return answered ? GRACE_US : Math.max(0, this.#endsAtUs - nowUs);
  }
}
