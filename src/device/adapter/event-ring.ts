import type { EventType, Syndrome } from '../ibta/index.js';
import { CompChannelRing, createRing, Ring, RING_HEADER_WORDS } from '../nic/index.js';

/**
 * Memory by which an adapter says that its connection manager has events, which commands then take: a ring's header and no
 * entries, its PRODUCER a count. It has the words of a completion channel's ring, so that one waiter serves both.
 *
 * @param shared whether the adapter is in another thread
 */
export function createCmEventRing(shared: boolean): ArrayBufferLike {
  return createRing(4 * RING_HEADER_WORDS, shared);
}

/** Counts one event more. */
export function countCmEvent(words: Int32Array): void {
  Atomics.store(words, Ring.PRODUCER, (words[Ring.PRODUCER] + 1) | 0);
}

/**
 * The ring in which an adapter announces asynchronous events. It has the header of a completion channel's ring
 * (`CompChannelRing`), so that one waiter serves both; an entry is a type, the number of the object it concerns, and
 * why.
 */
export const AsyncEventRing = {
  TYPE: 0,
  /** Number of the QP, CQ or SRQ, or {@link NO_OBJECT}. */
  OBJECT: 1,
  /** Why a request of the peer was refused, a value of `Syndrome`; else 0. */
  WHY: 2,
  SIZE: 3,
  /** Entries: four for each QP that a device can have. Memory is only taken by those that are used. */
  ENTRIES: 131072,
} as const;

export const NO_OBJECT = -1;

/** Memory for a ring of asynchronous events. @param shared whether the adapter is in another thread */
export function createAsyncEventRing(shared: boolean): ArrayBufferLike {
  return createRing(4 * (RING_HEADER_WORDS + AsyncEventRing.ENTRIES * AsyncEventRing.SIZE), shared);
}

export class AsyncEventWriter {
  readonly words: Int32Array;

  constructor(memory: ArrayBufferLike) {
    this.words = new Int32Array(memory);
  }

  /** Puts one event into the ring. What finds no room is lost, and OVERFLOW says so. */
  write(type: EventType, object: number, why: Syndrome): void {
    const { words } = this;
    const producer = words[Ring.PRODUCER];
    if ((producer - Atomics.load(words, Ring.CONSUMER)) >>> 0 >= AsyncEventRing.ENTRIES) {
      Atomics.store(words, CompChannelRing.OVERFLOW, 1);
      return;
    }
    const entry = RING_HEADER_WORDS + (producer & (AsyncEventRing.ENTRIES - 1)) * AsyncEventRing.SIZE;
    words[entry + AsyncEventRing.TYPE] = type;
    words[entry + AsyncEventRing.OBJECT] = object;
    words[entry + AsyncEventRing.WHY] = why;
    Atomics.store(words, Ring.PRODUCER, (producer + 1) | 0);
  }
}
