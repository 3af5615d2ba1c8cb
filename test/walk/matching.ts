import type { RecvRecord, SendRecord } from './things.js';

/**
 * Which message each receive request of a QP got, where messages look alike. What one is taken for is changed when a later
 * one could be nothing else: only when there is no way to give each its own did something come that nobody sent.
 */
export class Matching {
  readonly #candidates = new Map<RecvRecord, readonly SendRecord[]>();
  /** Who got each message: several, when packets may be doubled. */
  readonly #takers = new Map<SendRecord, RecvRecord[]>();

  /**
   * @param candidates what it may have got, the likeliest first
   * @param most how often each message may come
   * @returns the message that has come once more than before, undefined when there is none for it
   */
  add(recv: RecvRecord, candidates: readonly SendRecord[], most: number): SendRecord | undefined {
    this.#candidates.set(recv, candidates);
    return this.#place(recv, most, new Set());
  }

  #place(recv: RecvRecord, most: number, tried: Set<SendRecord>): SendRecord | undefined {
    const candidates = this.#candidates.get(recv) ?? [];
    const free = candidates.find((request) => this.#takersOf(request).length < most);
    if (free !== undefined) {
      this.#takersOf(free).push(recv);
      return free;
    }
    for (const request of candidates) {
      if (tried.has(request)) continue;
      tried.add(request);
      const takers = this.#takersOf(request);
      for (const [i, taker] of takers.entries()) {
        const gained = this.#place(taker, most, tried);
        if (gained === undefined) continue;
        takers[i] = recv;
        return gained;
      }
    }
    return undefined;
  }

  #takersOf(request: SendRecord): RecvRecord[] {
    const known = this.#takers.get(request);
    if (known !== undefined) return known;
    const takers: RecvRecord[] = [];
    this.#takers.set(request, takers);
    return takers;
  }
}
