/**
 * Objects that must be looked at now and then, because nobody reports what they wait for. A visit looks at few of them, in
 * turns: its cost does not grow with their number.
 */
export class Rota<T> {
  readonly #members = new Set<T>();

  get size(): number {
    return this.#members.size;
  }

  add(member: T): void {
    this.#members.add(member);
  }

  delete(member: T): void {
    this.#members.delete(member);
  }

  /** Calls `look` for the next `most` members; it may delete that member. @returns whether one of them found something */
  visit(most: number, look: (member: T) => boolean): boolean {
    let left = Math.min(most, this.#members.size);
    if (left === 0) return false;
    let found = false;
    for (const member of this.#members) {
      if (left === 0) break;
      left -= 1;
      // To the end of the order.
      this.#members.delete(member);
      this.#members.add(member);
      if (look(member)) found = true;
    }
    return found;
  }
}
