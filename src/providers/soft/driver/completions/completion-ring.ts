import {
  CompletionQueue,
  completionQueueShape,
  CqArm,
  Cqe,
  createRing,
  readChanged,
  Ring,
  RING_HEADER_WORDS,
  writeWord,
} from '../../../../device/nic/index.js';

/**
 * The driver's end of a completion queue. Whoever polls begins with the oldest entry that was not given back
 * ({@link rewind}), and gives all that he took back by one store, as the last thing that he does: so a poll that is interrupted
 * has taken nothing, and loses none.
 */
export class CompletionRing {
  readonly memory: ArrayBufferLike;
  readonly words: Int32Array;
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

  /** Whether an entry was lost because the queue was full. */
  get overrun(): boolean {
    return Atomics.load(this.words, CompletionQueue.OVERRUN) !== 0;
  }

  /** Whether an event was asked for and not raised. */
  get armed(): boolean {
    return Atomics.load(this.words, CompletionQueue.ARM) !== CqArm.NONE;
  }

  /** Completions that wait to be polled. */
  get queued(): number {
    return (Atomics.load(this.words, Ring.PRODUCER) - this.#consumer) >>> 0;
  }

  /** Free-running number of the next entry to be taken. */
  get position(): number {
    return this.#consumer;
  }

  /** Entries that no poll has given back. */
  get unread(): number {
    return (Atomics.load(this.words, Ring.PRODUCER) - this.words[Ring.CONSUMER]) | 0;
  }

  /** The word at which one of the {@link unread} entries begins. @param index 0 for the oldest */
  unreadAt(index: number): number {
    return RING_HEADER_WORDS + ((this.words[Ring.CONSUMER] + index) & this.#mask) * Cqe.SIZE;
  }

  rewind(): void {
    // Nobody else writes that word.
    this.#consumer = this.words[Ring.CONSUMER];
  }

  /** The word at which the oldest entry not taken begins, or -1 when there is none. */
  peek(): number {
    return this.#entry(this.#consumer);
  }

  /** Moves past the entry that {@link peek} showed, which stays readable until {@link release}. @returns as `peek` */
  next(): number {
    const consumer = (this.#consumer + 1) | 0;
    const at = this.#entry(consumer);
    this.#consumer = consumer;
    return at;
  }

  /** Gives all entries passed back to the NIC, and `more`. */
  release(more = 0): void {
    writeWord(this.words, Ring.CONSUMER, (this.#consumer + more) | 0, this.shared);
  }

  /** Goes on where a ring of another size has stopped, whose entries the NIC has copied here under the same numbers. */
  follow(predecessor: CompletionRing): void {
    this.#consumer = predecessor.#consumer;
    // A poll gives entries back without moving past them, so what it has passed is no measure of what has come.
    this.#knownProducer = Atomics.load(this.words, Ring.PRODUCER);
  }

  /**
   * Asks for one event. Arming both ways leaves "any" in force (protocol/services.md 3.8), and the NIC may be clearing the word
   * at this moment.
   */
  arm(solicitedOnly: boolean): void {
    if (solicitedOnly) Atomics.compareExchange(this.words, CompletionQueue.ARM, CqArm.NONE, CqArm.SOLICITED);
    else Atomics.store(this.words, CompletionQueue.ARM, CqArm.ANY);
    // What came before the NIC saw that is announced by nothing: the next look has to find it.
    this.#knownProducer = Atomics.load(this.words, Ring.PRODUCER);
  }

  #entry(consumer: number): number {
    if (consumer === this.#knownProducer) {
      this.#knownProducer = readChanged(this.words, Ring.PRODUCER, consumer, this.shared);
      if (consumer === this.#knownProducer) return -1;
    }
    return RING_HEADER_WORDS + (consumer & this.#mask) * Cqe.SIZE;
  }
}
