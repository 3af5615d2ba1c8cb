/** What strangers can make more of than there is room for: each that comes beyond that takes the place of the oldest. */
export class OldestFirst<T> {
  readonly #members = new Set<T>();

  constructor(
    private readonly limit: number,
    /** Has one go that is no member any more. */
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
