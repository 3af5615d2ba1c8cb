/**
 * A queue of things to happen, ordered by time; what is due at the same time comes out in the order it went in, without
 * which a run could not be repeated. A binary heap over three parallel arrays. What is cancelled stays in it until it comes
 * to the front, and is not seen any more.
 */
export class EventQueue<T> {
  readonly #times: number[] = [];
  readonly #orders: number[] = [];
  readonly #items: T[] = [];
  /** Orders of what was cancelled and is still in the heap. */
  readonly #cancelled = new Set<number>();
  #nextOrder = 0;

  get size(): number {
    return this.#items.length - this.#cancelled.size;
  }

  /** When the next item is due, in µs, or Infinity. */
  get nextUs(): number {
    while (this.#cancelled.size > 0 && this.#cancelled.delete(this.#orders[0])) this.#popFirst();
    return this.#times.length === 0 ? Infinity : this.#times[0];
  }

  /** @returns a number by which the item can be cancelled as long as it was not taken */
  push(timeUs: number, item: T): number {
    const order = this.#nextOrder++;
    let at = this.#items.length;
    this.#times.push(timeUs);
    this.#orders.push(order);
    this.#items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(timeUs, order, parent)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#put(at, timeUs, order, item);
    return order;
  }

  /** Forgets the item that {@link push} gave that number for. It must not have been taken, or cancelled, before. */
  cancel(order: number): void {
    this.#cancelled.add(order);
  }

  /** Takes the first item that is due at `nowUs`, if there is one. */
  popDue(nowUs: number): T | undefined {
    return this.nextUs > nowUs ? undefined : this.#popFirst();
  }

  #popFirst(): T | undefined {
    const first = this.#items[0];
    const timeUs = this.#times.pop();
    const order = this.#orders.pop();
    const item = this.#items.pop();
    if (timeUs === undefined || order === undefined || item === undefined) return first;
    if (this.#items.length > 0) this.#sink(timeUs, order, item);
    return first;
  }

  /** Puts an item into the place that the root left and lets it fall to where it belongs. */
  #sink(timeUs: number, order: number, item: T): void {
    const count = this.#items.length;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= count) break;
      if (child + 1 < count && this.#before(this.#times[child + 1], this.#orders[child + 1], child)) child += 1;
      if (this.#before(timeUs, order, child)) break;
      this.#move(child, at);
      at = child;
    }
    this.#put(at, timeUs, order, item);
  }

  #before(timeUs: number, order: number, other: number): boolean {
    const otherUs = this.#times[other];
    return timeUs < otherUs || (timeUs === otherUs && order < this.#orders[other]);
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#times[from], this.#orders[from], this.#items[from]);
  }

  #put(at: number, timeUs: number, order: number, item: T): void {
    this.#times[at] = timeUs;
    this.#orders[at] = order;
    this.#items[at] = item;
  }
}
