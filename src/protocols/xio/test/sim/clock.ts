/** Time of a run: events in the order in which they fall due. */
export class Clock {
  #nowUs = 0;
  #events: { readonly atUs: number; readonly order: number; readonly action: () => void }[] = [];
  #order = 0;

  get nowUs(): number {
    return this.#nowUs;
  }

  /** Calls `action` in so many µs. @returns takes it back */
  after(delayUs: number, action: () => void): () => void {
    const event = { atUs: this.#nowUs + delayUs, order: this.#order, action };
    this.#order += 1;
    // Most come soon, so they are kept sorted with the next at the end.
    let index = this.#events.length;
    while (index > 0 && isBefore(this.#events[index - 1], event)) index -= 1;
    this.#events.splice(index, 0, event);
    return () => {
      const at = this.#events.indexOf(event);
      if (at >= 0) this.#events.splice(at, 1);
    };
  }

  /** Lets events happen until there are none, or so much time has passed. @returns whether there are none */
  run(untilUs: number): boolean {
    for (;;) {
      const next = this.#events.at(-1);
      if (next === undefined) return true;
      if (next.atUs > untilUs) return false;
      this.#events.pop();
      this.#nowUs = next.atUs;
      next.action();
    }
  }
}

function isBefore(a: { atUs: number; order: number }, b: { atUs: number; order: number }): boolean {
  return a.atUs < b.atUs || (a.atUs === b.atUs && a.order < b.order);
}
