import {
  CompletionQueue,
  CqArm,
  completionQueueShape,
  Cqe,
  createRing,
  readChanged,
  Ring,
  RING_HEADER_WORDS,
  writeWord,
} from '../../nic/index.js';

/** The driver's end of a completion queue. */
export class CompletionRing {
  readonly memory: ArrayBufferLike;
  /** All of the ring. */
  readonly words: Int32Array;
  /** Completions that it can hold. */
  readonly entries: number;

  readonly #mask: number;
  #consumer = 0;
  #knownProducer = 0;

  constructor(
    minEntries: number,
    /** Whether the NIC is in another thread. */
    private readonly shared: boolean,
  ) {
    const shape = completionQueueShape(minEntries);
    this.memory = createRing(shape.bytes, shared);
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
      this.#knownProducer = readChanged(this.words, Ring.PRODUCER, this.#consumer, this.shared);
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
    writeWord(this.words, Ring.CONSUMER, this.#consumer, this.shared);
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
    // What came before the NIC saw that is announced by nothing: the next look has to find it.
    this.#knownProducer = Atomics.load(this.words, Ring.PRODUCER);
  }
}
