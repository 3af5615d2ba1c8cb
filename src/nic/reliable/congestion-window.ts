/**
 * How many packets a QP may have unacknowledged: it starts with what any receiver can take, grows while ACKs come back
 * and halves when packets are lost. The ceiling keeps one sender from overrunning the receiver's socket buffer: Linux
 * grants an ordinary process 416 KiB (`rmem_max` doubled), bookkeeping included, and rxe never has more than 128
 * packets in flight (PROTOCOL.md 2.6).
 */

const MAX_PACKETS = 128;
const MAX_BYTES = 256 * 1024;
const FIRST_BYTES = 128 * 1024;
const MIN_PACKETS = 4;
/** Packets of large segments; the way that takes such has room for more, and its receiver a cache that does not. */
const MAX_LARGE_PACKETS = 16;

export class CongestionWindow {
  /** Packets that may be unacknowledged now. */
  packets: number;
  readonly #ceiling: number;
  /** Acknowledged packets since the window last grew. */
  #credit = 0;

  constructor(mtuBytes: number) {
    this.#ceiling = Math.min(MAX_PACKETS, MAX_BYTES / mtuBytes);
    this.packets = Math.min(this.#ceiling, FIRST_BYTES / mtuBytes);
  }

  get ceiling(): number {
    return this.#ceiling;
  }

  /** Packets of large segments that may be unacknowledged now. */
  get largePackets(): number {
    return Math.min(this.packets, MAX_LARGE_PACKETS);
  }

  get largeCeiling(): number {
    return Math.min(this.#ceiling, MAX_LARGE_PACKETS);
  }

  onAcknowledged(packets: number): void {
    if (this.packets >= this.#ceiling) return;
    this.#credit += packets;
    if (this.#credit < this.packets) return;
    this.#credit = 0;
    this.packets = Math.min(this.#ceiling, this.packets + Math.max(1, this.packets >> 2));
  }

  onLoss(): void {
    this.#credit = 0;
    this.packets = Math.max(MIN_PACKETS, this.packets >> 1);
  }
}
