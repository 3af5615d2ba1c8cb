/** A bucket holds what flows in during this time, unless its owner says how large a burst may be. */
const DEFAULT_BURST_US = 1000;
/** The largest packet of any service with its IP and UDP headers: a smaller bucket could never let one go. */
const LARGEST_PACKET_BYTES = 4096 + 128;

/**
 * Keeps a send queue to a rate (`man ibv_modify_qp_rate_limit`): a bucket of bytes that fills at the rate and that each
 * packet takes its length from. A packet may leave while the bucket is not overdrawn, and may overdraw it, so that one
 * longer than the bucket goes as well, and all that follows waits for it.
 */
export class Pacer {
  /** kbit/s; 0 is no limit. */
  rateKbps = 0;
  #bytesPerUs = 0;
  #maxBurstBytes = 0;
  #typicalPacketBytes = 0;
  #capacity = 0;
  #level = 0;
  /** When the bucket had #level bytes. */
  #atUs = 0;

  /**
   * Sets the rate from now on.
   *
   * @param rateKbps kbit/s; 0 lifts the limit
   * @param maxBurstBytes bytes that may leave at once after a rest; 0 is what 1 ms gives, and at least one packet
   * @param typicalPacketBytes how long most packets are: the bucket holds one such at least
   */
  limit(
    nowUs: number,
    rateKbps: number,
    maxBurstBytes = this.#maxBurstBytes,
    typicalPacketBytes = this.#typicalPacketBytes,
  ): void {
    this.rateKbps = rateKbps;
    this.#bytesPerUs = rateKbps / 8000;
    this.#maxBurstBytes = maxBurstBytes;
    this.#typicalPacketBytes = typicalPacketBytes;
    const unasked = Math.max(this.#bytesPerUs * DEFAULT_BURST_US, LARGEST_PACKET_BYTES);
    this.#capacity = Math.max(maxBurstBytes > 0 ? maxBurstBytes : unasked, typicalPacketBytes);
    this.#level = this.#capacity;
    this.#atUs = nowUs;
  }

  reset(): void {
    this.limit(0, 0, 0, 0);
  }

  /** How long the next packet has to wait, in µs; 0 when it may leave now. */
  waitUs(nowUs: number): number {
    if (this.#bytesPerUs === 0) return 0;
    this.#level = Math.min(this.#capacity, this.#level + (nowUs - this.#atUs) * this.#bytesPerUs);
    this.#atUs = nowUs;
    return this.#level >= 0 ? 0 : -this.#level / this.#bytesPerUs;
  }

  /** A packet of that many bytes leaves. */
  spend(lengthBytes: number): void {
    this.#level -= lengthBytes;
  }
}
