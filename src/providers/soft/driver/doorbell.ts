import { DoorbellPage, isShared, Ring, RING_HEADER_WORDS, writeWord } from '../../../device/nic/index.js';
import type { WorkRing } from './posting/work-ring.js';

/** Stands for no queue pair. */
const NONE = -1;

/**
 * The driver's end of the doorbell page: tells the NIC which queue pairs have something new. Whoever posts says so first
 * ({@link begin}) and rings last. A call that is interrupted in between may have published something that the NIC has not
 * been told of, and claimed the doorbell of its queue pair for ever; so the next call rings in its place.
 */
export class Doorbell {
  readonly #words: Int32Array;
  readonly #shared: boolean;
  #posting = NONE;

  constructor(
    page: ArrayBufferLike,
    /** Called after each ring: the NIC may have to be woken, or given a turn. */
    private readonly onRing: () => void,
  ) {
    this.#words = new Int32Array(page);
    this.#shared = isShared(page);
  }

  /** Something is about to be posted to that queue pair. {@link ring} or {@link end} follows. */
  begin(qpn: number): void {
    this.settle();
    this.#posting = qpn;
  }

  /** What was posted needs no doorbell. */
  end(): void {
    this.#posting = NONE;
  }

  /** Tells the NIC, unless it is about to look at the queue anyhow. */
  ring(qpn: number, queue: WorkRing): void {
    if (queue.claimDoorbell()) {
      this.#append(qpn);
      this.onRing();
    }
    this.#posting = NONE;
  }

  /** Rings for a call that was interrupted, if there was one. A doorbell too many does no harm. */
  settle(): void {
    if (this.#posting === NONE) return;
    this.#append(this.#posting);
    this.onRing();
    this.#posting = NONE;
  }

  /**
   * Appends a queue pair. Its DOORBELL word went from 0 to 1 first, so it is not in the ring and the ring, which has
   * room for every QP of a device, is not full.
   */
  #append(qpn: number): void {
    const words = this.#words;
    // Nobody else writes that word.
    const producer = words[Ring.PRODUCER];
    words[RING_HEADER_WORDS + (producer & (DoorbellPage.ENTRIES - 1))] = qpn;
    writeWord(words, Ring.PRODUCER, (producer + 1) | 0, this.#shared);
  }
}
