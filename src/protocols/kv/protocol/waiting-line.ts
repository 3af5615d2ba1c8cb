export interface Placed {
  /** Where it stands: the line's. */
  place: number;
}

/** Cut off only when there are so many, and as many as wait. */
const MANY = 1024;

/** Whatever waits for its turn, in order. Who is at the front, or gives up, leaves in the same time however long the line is. */
export class WaitingLine<R extends Placed> {
  readonly #line: (R | undefined)[] = [];
  #first = 0;
  /** Places that were cut off before the first of {@link #line}. */
  #gone = 0;
  #count = 0;

  get length(): number {
    return this.#count;
  }

  add(request: R): void {
    request.place = this.#gone + this.#line.length;
    this.#line.push(request);
    this.#count += 1;
  }

  /** Takes one out, wherever it stands; nothing where it does not. */
  remove(request: R): void {
    const at = request.place - this.#gone;
    if (this.#line[at] !== request) return;
    this.#line[at] = undefined;
    this.#count -= 1;
  }

  shift(): R | undefined {
    let request: R | undefined;
    while (request === undefined && this.#first < this.#line.length) {
      request = this.#line[this.#first];
      this.#line[this.#first] = undefined;
      this.#first += 1;
    }
    if (request !== undefined) this.#count -= 1;
    this.#cutOff();
    return request;
  }

  drain(): R[] {
    const all = this.#line.filter((request) => request !== undefined);
    this.#gone += this.#line.length;
    this.#line.length = this.#first = this.#count = 0;
    return all;
  }

  #cutOff(): void {
    const isEmpty = this.#first === this.#line.length;
    if (!isEmpty && (this.#first < MANY || 2 * this.#first < this.#line.length)) return;
    this.#line.splice(0, this.#first);
    this.#gone += this.#first;
    this.#first = 0;
  }
}
