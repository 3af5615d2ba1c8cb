/** Objects that strangers can create, limited in number: a new one beyond the limit replaces the oldest. */
export class OldestFirst<T> {
  readonly #members = new Set<T>();

  constructor(
    private readonly limit: number,
    /** Ends one that is no longer a member. */
    private readonly dismiss: (oldest: T) => void,
  ) {}

  get size(): number {
    return this.#members.size;
  }

  enter(member: T): void {
    this.#members.add(member);
    if (this.#members.size <= this.limit) return;
    const [oldest] = this.#members;
    this.#members.delete(oldest);
    this.dismiss(oldest);
  }

  leave(member: T): void {
    this.#members.delete(member);
  }
}
