import { CompChannelRing, Ring, RING_HEADER_WORDS } from '../../../../device/nic/index.js';

/** The driver's end of a ring of events: a completion channel's, or the asynchronous events of an adapter. */
export class EventReader {
  readonly words: Int32Array;
  #consumer = 0;

  constructor(
    readonly memory: ArrayBufferLike,
    private readonly entries: number,
    private readonly entryWords: number,
  ) {
    this.words = new Int32Array(memory);
  }

  /** What {@link Ring.PRODUCER} shows while nothing new has come: the value to sleep on. */
  get position(): number {
    return this.#consumer;
  }

  /** The word at which the oldest event begins, or -1 when there is none. */
  peek(): number {
    if (Atomics.load(this.words, Ring.PRODUCER) === this.#consumer) return -1;
    return RING_HEADER_WORDS + (this.#consumer & (this.entries - 1)) * this.entryWords;
  }

  /** Gives the event that {@link peek} showed back. */
  take(): void {
    this.#consumer = (this.#consumer + 1) | 0;
    Atomics.store(this.words, Ring.CONSUMER, this.#consumer);
  }

  /** Whether something has come since {@link follow}. */
  get isBehind(): boolean {
    return this.published !== this.#consumer;
  }

  get published(): number {
    return Atomics.load(this.words, Ring.PRODUCER);
  }

  /** Takes note of what a ring without entries has counted so far: as {@link published} was. */
  follow(published: number): void {
    this.#consumer = published;
  }

  /** Whether events were lost since this was last asked. */
  takeOverflow(): boolean {
    return Atomics.exchange(this.words, CompChannelRing.OVERFLOW, 0) !== 0;
  }

  /** Says whether somebody waits in the event loop, so that the next event must be announced there as well. */
  announce(wanted: boolean): void {
    Atomics.store(this.words, CompChannelRing.ASYNC_WAITERS, wanted ? 1 : 0);
  }
}
