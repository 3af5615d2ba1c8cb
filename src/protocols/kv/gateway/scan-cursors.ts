/** What clients of Redis have room for. */
const CURSORS = 2n ** 64n;
const MOST_KEPT = 4096n;

/** Cursors of SCAN. For those of a store with several servers, which are longer than Redis' are, others stand: as many as were given last. */
export class ScanCursors {
  readonly #longer = new Map<bigint, bigint>();
  #last = 0n;

  /** What a client is given for a cursor of the store. */
  given(cursor: bigint): bigint {
    if (cursor < CURSORS) return cursor;
    this.#last += 1n;
    this.#longer.set(this.#last, cursor);
    this.#longer.delete(this.#last - MOST_KEPT);
    return this.#last;
  }

  /** The store's cursor for one that a client was given. With one that is not kept any more the list begins anew. */
  taken(cursor: bigint): bigint {
    return this.#longer.get(cursor) ?? cursor;
  }
}
