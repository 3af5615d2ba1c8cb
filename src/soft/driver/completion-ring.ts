import { CompletionQueue, CqArm, completionQueueShape, Cqe, Ring, RING_HEADER_WORDS } from '../../nic/index.js';

/** The driver's end of a completion queue. */
export class CompletionRing {
  readonly memory: SharedArrayBuffer;
  /** All of the ring. */
  readonly words: Int32Array;
  /** Completions that it can hold. */
  readonly entries: number;

  readonly #mask: number;
  #consumer = 0;
  #knownProducer = 0;

  constructor(minEntries: number) {
    const shape = completionQueueShape(minEntries);
    this.memory = new SharedArrayBuffer(shape.bytes);
    this.words = new Int32Array(this.memory);
    this.entries = shape.entries;
    this.#mask = shape.entries - 1;
  }

  /** Whether an entry lost its place for want of room. */
  get overrun(): boolean {
    return Atomics.load(this.words, CompletionQueue.OVERRUN) !== 0;
  }

  /** Free-running number of the next entry to be taken. */
  get position(): number {
    return this.#consumer;
  }

  /** The word at which the oldest entry not taken begins, or -1 when there is none. */
  peek(): number {
    if (this.#consumer === this.#knownProducer) {
      this.#knownProducer = Atomics.load(this.words, Ring.PRODUCER);
      if (this.#consumer === this.#knownProducer) return -1;
    }
    return RING_HEADER_WORDS + (this.#consumer & this.#mask) * Cqe.SIZE;
  }

  /** Moves past the entry that {@link peek} showed; it stays readable until {@link release}. */
  take(): void {
    this.#consumer = (this.#consumer + 1) | 0;
  }

  /** Gives all entries taken back to the NIC. */
  release(): void {
    Atomics.store(this.words, Ring.CONSUMER, this.#consumer);
  }

  /** Goes on where a ring of another size has stopped, whose entries the NIC has copied here under the same numbers. */
  follow(predecessor: CompletionRing): void {
    this.#consumer = predecessor.#consumer;
    this.#knownProducer = this.#consumer;
  }

  /**
   * Asks for one event. Arming both ways leaves "any" in force (PROTOCOL.md 3.8), and the NIC may be clearing the word
   * at this moment.
   */
  arm(solicitedOnly: boolean): void {
    if (solicitedOnly) Atomics.compareExchange(this.words, CompletionQueue.ARM, CqArm.NONE, CqArm.SOLICITED);
    else Atomics.store(this.words, CompletionQueue.ARM, CqArm.ANY);
  }
}
