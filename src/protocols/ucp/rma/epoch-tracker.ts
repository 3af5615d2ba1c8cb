/** What was begun between two flushes. */
export interface Epoch {
  /** How much of it has not ended. */
  outstanding: number;
  readonly waiting: (() => void)[];
}

function epoch(): Epoch {
  return { outstanding: 0, waiting: [] };
}

/** What is under way, whatever ends first, for those who wait until all has ended that was begun before. */
export class EpochTracker {
  readonly #epochs: Epoch[] = [epoch()];

  /** Whether all has ended that was begun. */
  get isEmpty(): boolean {
    return this.#epochs.every(({ outstanding }) => outstanding === 0);
  }

  begin(): Epoch {
    const now = this.#epochs[this.#epochs.length - 1];
    now.outstanding += 1;
    return now;
  }

  /** Something begins that belongs to what was begun then, and has not ended. */
  join(then: Epoch): void {
    then.outstanding += 1;
  }

  end(then: Epoch): void {
    then.outstanding -= 1;
    this.#drain();
  }

  /** Calls, perhaps at once, when all has ended that was begun before. */
  whenDrained(action: () => void): void {
    this.#epochs[this.#epochs.length - 1].waiting.push(action);
    this.#epochs.push(epoch());
    this.#drain();
  }

  #drain(): void {
    while (this.#epochs.length > 1 && this.#epochs[0].outstanding === 0)
      for (const action of this.#epochs.shift()?.waiting ?? []) action();
  }
}
