import { createRing, Ring, RING_HEADER_WORDS } from '../nic/index.js';

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
