import { assert, type QpState, Syndrome, WcStatus } from '../../ibta/index.js';
import { requireBytes } from '../command-error.js';
import { RecvWqe, Ring, RING_HEADER_WORDS, type RingShape, SgeWords, WorkQueue as Header } from '../rings/layout.js';
import { isShared, readWord, writeWord } from '../rings/ring-words.js';
import type { WorkQueueWatcher } from './watchers.js';

/** The status of requests posted to a QP that has stopped: flushed, or lost with the device (protocol/reliable.md 2.10). */
export function flushStatus(cause: Syndrome): WcStatus {
  return cause === Syndrome.DEVICE_FATAL ? WcStatus.FATAL_ERR : WcStatus.WR_FLUSH_ERR;
}

/**
 * The NIC's end of a send or receive queue. Entries stay in the ring, where they are read again for every
 * retransmission, until {@link publish} gives their slots back to the driver.
 */
export class WorkQueue {
  /** All of the ring. Another array after {@link detach} alone. */
  words: Int32Array;
  /** Free-running number of the oldest entry that is not retired. */
  head: number;
  watcher: WorkQueueWatcher | undefined;

  readonly #shared: boolean;
  readonly #mask: number;
  readonly #entryWords: number;
  #knownProducer: number;
  #bytes: Uint8Array | undefined;

  constructor(
    memory: ArrayBufferLike,
    shape: RingShape,
    /** Scatter/gather entries that fit into one work queue entry. */
    readonly maxSge: number,
  ) {
    requireBytes(memory, shape.bytes);
    this.words = new Int32Array(memory);
    this.#shared = isShared(memory);
    this.#mask = shape.entries - 1;
    this.#entryWords = shape.entryWords;
    this.head = this.words[Ring.CONSUMER];
    this.#knownProducer = this.head;
  }

  /** The same memory byte by byte, for inline data; made when it is first needed. */
  get bytes(): Uint8Array {
    this.#bytes ??= new Uint8Array(this.words.buffer);
    return this.#bytes;
  }

  get entries(): number {
    return this.#mask + 1;
  }

  /** Entries that the driver has published and the NIC has not retired. */
  get count(): number {
    this.watcher?.refill?.();
    const published = (readWord(this.words, Ring.PRODUCER, this.#shared) - this.head) >>> 0;
    return Math.min(published, this.entries);
  }

  slot(index: number): number {
    return index & this.#mask;
  }

  /** Word at which entry number `index` begins. */
  entry(index: number): number {
    return RING_HEADER_WORDS + (index & this.#mask) * this.#entryWords;
  }

  /** Whether the driver has published entry number `index`. */
  has(index: number): boolean {
    if (index !== this.#knownProducer) return true;
    // A driver that claims more entries than the ring holds gets as many as it can have written; one that takes back what it
    // has published gets none.
    const known = (this.head + this.count) | 0;
    if (((known - index) | 0) <= 0) return false;
    this.#knownProducer = known;
    return true;
  }

  /** Notes that the entries before number `head` are done with; {@link publish} gives their slots back. */
  retire(head: number): void {
    assert(((this.#knownProducer - head) | 0) >= 0, 'an entry is retired that was never published');
    this.head = head;
  }

  /** Gives the slots of retired entries back to the driver. */
  publish(): void {
    if (this.words[Ring.CONSUMER] === this.head) return;
    writeWord(this.words, Ring.CONSUMER, this.head, this.#shared);
    this.watcher?.taken();
  }

  /** Forgets all entries, as RESET does. */
  discard(): void {
    this.#knownProducer = readWord(this.words, Ring.PRODUCER, this.#shared);
    this.retire(this.#knownProducer);
    this.publish();
  }

  /** Takes over all that another queue of the same kind of entries holds, under the same numbers. */
  adopt(other: WorkQueue): void {
    const { count } = other;
    const entryWords = Math.min(this.#entryWords, other.#entryWords);
    for (let i = 0; i < count; i += 1) {
      const index = (other.head + i) | 0;
      const from = other.entry(index);
      this.words.set(other.words.subarray(from, from + entryWords), this.entry(index));
    }
    this.head = other.head;
    this.#knownProducer = (other.head + count) | 0;
    writeWord(this.words, Ring.PRODUCER, this.#knownProducer, this.#shared);
    this.publish();
  }

  /**
   * Lets go of the ring of a destroyed queue: the driver may use it for another queue. A stale reference in the NIC finds this queue empty.
   */
  detach(): void {
    this.watcher = undefined;
    this.words = new Int32Array(RING_HEADER_WORDS);
    this.words[Ring.PRODUCER] = this.head;
    this.words[Ring.CONSUMER] = this.head;
    this.#bytes = undefined;
    this.#knownProducer = this.head;
  }

  /** Lets the driver ring again. Call it before looking for work, so that a later post is never overlooked. */
  clearDoorbell(): void {
    writeWord(this.words, Header.DOORBELL, 0, this.#shared);
  }

  /** Shows the driver the state that decides whether a post must ring. */
  publishState(state: QpState): void {
    writeWord(this.words, Header.QP_STATE, state, this.#shared);
  }
}

/** Sum of the lengths of `count` scatter/gather entries that begin at word `at`. */
export function sgeTotal(words: Int32Array, at: number, count: number): number {
  let total = 0;
  for (let i = 0; i < count; i += 1) total += words[at + i * SgeWords.SIZE + SgeWords.LENGTH] >>> 0;
  return total;
}

/** Bytes that the oldest receive request of a queue has room for, or -1 when there is none. */
export function nextCapacity(queue: WorkQueue): number {
  if (!queue.has(queue.head)) return -1;
  const entry = queue.entry(queue.head);
  return sgeTotal(queue.words, entry + RecvWqe.DATA, receiveSges(queue.words, entry, queue.maxSge));
}

/** Scatter/gather entries of the receive entry at word `entry`. A driver may claim more than fit; it gets as many as fit. */
export function receiveSges(words: Int32Array, entry: number, maxSge: number): number {
  return Math.min(words[entry + RecvWqe.NUM_SGE] >>> 0, maxSge);
}
