import { DoorbellPage, isShared, Ring, RING_HEADER_WORDS, writeWord } from '../../nic/index.js';

/** The driver's end of the doorbell page: tells the NIC which queue pairs have something new. */
export class Doorbell {
  readonly #words: Int32Array;
  readonly #shared: boolean;
  #producer: number;

  constructor(
    page: ArrayBufferLike,
    /** Called after each ring: the NIC may have to be woken, or given a turn. */
    private readonly onRing: () => void,
  ) {
    this.#words = new Int32Array(page);
    this.#shared = isShared(page);
    this.#producer = this.#words[Ring.PRODUCER];
  }

  /**
   * Appends a queue pair. Its DOORBELL word went from 0 to 1 first, so it is not in the ring and the ring, which has
   * room for every QP of a device, is not full.
   */
  ring(qpn: number): void {
    const words = this.#words;
    words[RING_HEADER_WORDS + (this.#producer & (DoorbellPage.ENTRIES - 1))] = qpn;
    this.#producer = (this.#producer + 1) | 0;
    writeWord(words, Ring.PRODUCER, this.#producer, this.#shared);
    this.onRing();
  }
}
