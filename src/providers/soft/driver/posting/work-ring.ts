import type { QpState } from '../../../../device/ibta/index.js';
import {
  exchangeWord,
  readWord,
  Ring,
  RING_HEADER_WORDS,
  type RingShape,
  WorkQueue,
  writeWord,
} from '../../../../device/nic/index.js';
import type { SpareRings } from './spare-rings.js';

/**
 * The driver's end of a send or receive queue. Entries are written one after the other past those published, and
 * become the NIC's all at once: {@link reserve}, write, {@link accept}, and so on, then {@link publish}, which is one store. So
 * a call that is interrupted in between, wherever that is, has posted all or nothing; the next one begins by {@link rollBack}.
 */
export class WorkRing {
  #memory: ArrayBufferLike;
  /** Whether the NIC is in another thread. */
  readonly #shared: boolean;
  #words: Int32Array;
  #bytes: Uint8Array | undefined;
  #mask: number;
  #entryWords: number;
  /** Entries that may be in use at a time. */
  #capacity: number;
  /** Entry that is written next; those from PRODUCER up to it are written and not yet the NIC's. */
  #next = 0;
  #knownConsumer = 0;
  #isRetired = false;

  constructor(shape: RingShape, capacity: number, spare: SpareRings) {
    this.#memory = spare.take(shape.bytes);
    this.#shared = spare.shared;
    this.#words = new Int32Array(this.#memory);
    this.#mask = shape.entries - 1;
    this.#entryWords = shape.entryWords;
    this.#capacity = capacity;
  }

  get memory(): ArrayBufferLike {
    return this.#memory;
  }

  get words(): Int32Array {
    return this.#words;
  }

  /** The same memory byte by byte, for inline data. */
  get bytes(): Uint8Array {
    this.#bytes ??= new Uint8Array(this.#memory);
    return this.#bytes;
  }

  /** The state that the NIC says the queue pair to be in. */
  get state(): QpState {
    // The NIC writes nothing else there (layout: WorkQueue.QP_STATE).
    return readWord(this.#words, WorkQueue.QP_STATE, this.#shared) as QpState;
  }

  /** Free-running count of the entries that the NIC is done with. */
  get taken(): number {
    return readWord(this.#words, Ring.CONSUMER, this.#shared);
  }

  /** Free-running number of the entry that {@link accept} makes next. */
  get next(): number {
    return this.#next;
  }

  /** The word at which the next entry is to be written, or -1 when the queue is full. */
  reserve(): number {
    if ((this.#next - this.#knownConsumer) >>> 0 >= this.#capacity) {
      this.#knownConsumer = readWord(this.#words, Ring.CONSUMER, this.#shared);
      if ((this.#next - this.#knownConsumer) >>> 0 >= this.#capacity) return -1;
    }
    return RING_HEADER_WORDS + (this.#next & this.#mask) * this.#entryWords;
  }

  /** The entry at the word last reserved is written. */
  accept(): void {
    this.#next = (this.#next + 1) | 0;
  }

  /** Forgets what was accepted and not published. */
  rollBack(): void {
    // Nobody else writes that word.
    this.#next = this.#words[Ring.PRODUCER];
  }

  /** Whether something is accepted and not published. */
  get pending(): boolean {
    return this.#next !== this.#words[Ring.PRODUCER];
  }

  /** Makes all that was accepted the NIC's. */
  publish(): void {
    writeWord(this.#words, Ring.PRODUCER, this.#next, this.#shared);
  }

  /**
   * Whether the NIC must be told of what was published: only the one who changes the word from 0 to 1 rings, and the
   * NIC clears it before it looks at the queue.
   */
  claimDoorbell(): boolean {
    return exchangeWord(this.#words, WorkQueue.DOORBELL, 1, this.#shared) === 0;
  }

  /**
   * Goes on in the ring of another size, to which the NIC has copied what is published, under the same numbers. Nothing
   * may be {@link pending}.
   */
  moveTo(successor: WorkRing): void {
    this.#memory = successor.#memory;
    this.#words = successor.#words;
    this.#bytes = undefined;
    this.#mask = successor.#mask;
    this.#entryWords = successor.#entryWords;
    this.#capacity = successor.#capacity;
    this.#knownConsumer = readWord(this.#words, Ring.CONSUMER, this.#shared);
  }

  /**
   * Gives up the memory of a queue that the NIC has destroyed. This object becomes a ring without entries in private memory, and keeps the
   * last state that the NIC published. A stale reference to it reaches no memory of another queue.
   *
   * @returns the memory, the first time
   */
  retire(): ArrayBufferLike | undefined {
    if (this.#isRetired) return undefined;
    const memory = this.#memory;
    const stub = new Int32Array(RING_HEADER_WORDS);
    stub[WorkQueue.QP_STATE] = this.state;
    // The NIC has no such queue: claimDoorbell never asks for a ring.
    stub[WorkQueue.DOORBELL] = 1;
    this.#capacity = 0;
    this.#mask = 0;
    this.#next = 0;
    this.#knownConsumer = 0;
    this.#memory = stub.buffer;
    this.#bytes = undefined;
    this.#words = stub;
    this.#isRetired = true;
    return memory;
  }
}
