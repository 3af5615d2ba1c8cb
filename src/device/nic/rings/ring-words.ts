/**
 * The words that the two ends of a ring tell each other by. Between threads they are read and written by `Atomics`, so that
 * whoever sees one sees what was written before it. That takes 20 to 40 ns a call (Node 20), a plain access 1; within one
 * thread plain ones do.
 */

/** Memory for a ring: shared when its two ends are in different threads. */
export function createRing(bytes: number, shared: boolean): ArrayBufferLike {
  // eslint-disable-next-line no-restricted-globals -- threads share a NIC in Node only
  return shared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
}

/** Whether the other end of a ring may be in another thread. */
export function isShared(memory: ArrayBufferLike): boolean {
  // Pages of a browser, unless they are isolated from others, do not even know shared memory.
  return !(memory instanceof ArrayBuffer);
}

export function readWord(words: Int32Array, index: number, shared: boolean): number {
  return shared ? Atomics.load(words, index) : words[index];
}

/**
 * As {@link readWord}, for a word that is mostly `known` still: an `Atomics` call is made only when it no longer is, and what
 * the other end wrote before is to be seen.
 */
export function readChanged(words: Int32Array, index: number, known: number, shared: boolean): number {
  const value = words[index];
  return shared && value !== known ? Atomics.load(words, index) : value;
}

export function writeWord(words: Int32Array, index: number, value: number, shared: boolean): void {
  if (shared) Atomics.store(words, index, value);
  else words[index] = value;
}

/** Writes a word. @returns what stood there */
export function exchangeWord(words: Int32Array, index: number, value: number, shared: boolean): number {
  if (shared) return Atomics.exchange(words, index, value);
  const before = words[index];
  words[index] = value;
  return before;
}
