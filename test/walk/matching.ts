/**
 * Which message each receive request of a QP got, where messages look alike. What one is taken for is changed when a later
 * one could be nothing else: only when there is no way to give each its own did something come that nobody sent.
 */
export class Matching<Receive, Message> {
  readonly #candidates = new Map<Receive, readonly Message[]>();
  /** Who got each message: several, when packets may be doubled. */
  readonly #takers = new Map<Message, Receive[]>();

  /**
   * @param candidates what it may have got, the likeliest first
   * @param most how often each message may come
   * @returns the message that has come once more than before, undefined when there is none for it
   */
  add(receive: Receive, candidates: readonly Message[], most: number): Message | undefined {
    this.#candidates.set(receive, candidates);
    return this.#place(receive, most, new Set());
  }

  #place(receive: Receive, most: number, tried: Set<Message>): Message | undefined {
    const candidates = this.#candidates.get(receive) ?? [];
    const free = candidates.find((message) => this.#takersOf(message).length < most);
    if (free !== undefined) {
      this.#takersOf(free).push(receive);
      return free;
    }
    for (const message of candidates) {
      if (tried.has(message)) continue;
      tried.add(message);
      const takers = this.#takersOf(message);
      for (const [i, taker] of takers.entries()) {
        const gained = this.#place(taker, most, tried);
        if (gained === undefined) continue;
        takers[i] = receive;
        return gained;
      }
    }
    return undefined;
  }

  #takersOf(message: Message): Receive[] {
    const known = this.#takers.get(message);
    if (known !== undefined) return known;
    const takers: Receive[] = [];
    this.#takers.set(message, takers);
    return takers;
  }
}
