import { Refusal } from '../refusal.js';

/** Numbers by which a program names its objects: one row of numbers for all kinds of an opened device. */
export class HandleNumbers {
  // From 1 on: to the provider, an address handle of number 0 is none.
  #next = 1;

  readonly #taken = new Set<number>();

  take(): number {
    while (this.#next === 0 || this.#taken.has(this.#next)) this.#next = (this.#next + 1) >>> 0;
    const handle = this.#next;
    this.#next = (this.#next + 1) >>> 0;
    this.#taken.add(handle);
    return handle;
  }

  /** Whether an object of any kind has that number. */
  isTaken(handle: number): boolean {
    return this.#taken.has(handle);
  }

  giveBack(handle: number): void {
    this.#taken.delete(handle);
  }
}

/** The objects of one kind that a program has made through one opened device. */
export class Handles<T> {
  readonly #objects = new Map<number, T>();

  /** @param kind what they are, for sentences: `CQ` */
  constructor(
    private readonly numbers: HandleNumbers,
    private readonly kind: string,
  ) {}

  add(object: T): number {
    const handle = this.numbers.take();
    this.#objects.set(handle, object);
    return handle;
  }

  /** @throws Refusal EINVAL where there is none of that number */
  get(handle: number): T {
    const object = this.#objects.get(handle);
    if (object === undefined) throw new Refusal('EINVAL', this.#absent(handle));
    return object;
  }

  /** As {@link get}, for a command that ends the object. @throws Refusal ENOENT for no object, EINVAL for one of another kind */
  getToEnd(handle: number): T {
    const object = this.#objects.get(handle);
    if (object === undefined)
      throw new Refusal(this.numbers.isTaken(handle) ? 'EINVAL' : 'ENOENT', this.#absent(handle));
    return object;
  }

  find(handle: number): T | undefined {
    return this.#objects.get(handle);
  }

  remove(handle: number): void {
    if (this.#objects.delete(handle)) this.numbers.giveBack(handle);
  }

  #absent(handle: number): string {
    return `this context has no ${this.kind} of handle ${handle}. Was it destroyed, or made by another context?`;
  }

  get size(): number {
    return this.#objects.size;
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#objects.values();
  }
}
