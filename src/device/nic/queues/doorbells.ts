import { DoorbellPage, Ring, RING_HEADER_WORDS } from '../rings/layout.js';
import { isShared, readChanged, writeWord } from '../rings/ring-words.js';

interface Rung {
  readonly doorbells: Doorbells | undefined;
  onDoorbell(): void;
}

/** The NIC's end of a doorbell page. It rings for the queue pairs that were made with it, and for nobody else's. */
export class Doorbells {
  readonly #words: Int32Array;
  readonly #shared: boolean;

  constructor(memory: ArrayBufferLike) {
    this.#words = new Int32Array(memory);
    this.#shared = isShared(memory);
  }

  /** Whether the driver has rung since the last {@link take}. */
  get rung(): boolean {
    const words = this.#words;
    const consumer = words[Ring.CONSUMER];
    return readChanged(words, Ring.PRODUCER, consumer, this.#shared) !== consumer;
  }

  /** Tells queue pairs that they were rung for. */
  take(qps: { find(qpn: number): Rung | undefined }): void {
    const words = this.#words;
    let consumer = words[Ring.CONSUMER];
    const producer = readChanged(words, Ring.PRODUCER, consumer, this.#shared);
    // A driver that claims more than the ring holds is believed up to what it can have written.
    if ((producer - consumer) >>> 0 > DoorbellPage.ENTRIES) consumer = (producer - DoorbellPage.ENTRIES) | 0;
    while (consumer !== producer) {
      const qp = qps.find(words[RING_HEADER_WORDS + (consumer & (DoorbellPage.ENTRIES - 1))]);
      if (qp?.doorbells === this) qp.onDoorbell();
      consumer = (consumer + 1) | 0;
    }
    writeWord(words, Ring.CONSUMER, consumer, this.#shared);
  }
}
