import { requireBytes } from '../command-error.js';
import { CompChannelRing, compChannelShape, Ring, RING_HEADER_WORDS } from '../rings/layout.js';

/** The NIC's end of a completion channel: the ring in which CQs announce their events. */
export class CompChannel {
  readonly #words: Int32Array;
  #producer: number;
  /** CQs that report here. */
  users = 0;

  constructor(
    readonly handle: number,
    memory: ArrayBufferLike,
  ) {
    requireBytes(memory, compChannelShape().bytes);
    this.#words = new Int32Array(memory);
    this.#producer = this.#words[Ring.PRODUCER];
  }

  /** Puts one event of CQ `cqn` into the ring. */
  post(cqn: number): void {
    const inUse = (this.#producer - Atomics.load(this.#words, Ring.CONSUMER)) >>> 0;
    if (inUse >= CompChannelRing.ENTRIES) {
      Atomics.store(this.#words, CompChannelRing.OVERFLOW, 1);
      return;
    }
    this.#words[RING_HEADER_WORDS + (this.#producer & (CompChannelRing.ENTRIES - 1))] = cqn;
    this.#producer = (this.#producer + 1) | 0;
    Atomics.store(this.#words, Ring.PRODUCER, this.#producer);
  }
}
