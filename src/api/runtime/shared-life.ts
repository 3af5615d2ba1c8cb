import type { Life } from './runtime.js';

/**
 * Something that keeps a program running while it goes on, and that several need: it begins with the first of them and ends with the last, and is
 * referenced while any of them is.
 */
export class SharedLife {
  #users = 0;
  #referenced = 0;
  #life: Life | undefined;

  constructor(private readonly begin: () => Life) {}

  /** How many need it now. */
  get users(): number {
    return this.#users;
  }

  /** Whether it keeps the program running. */
  get isReferenced(): boolean {
    return this.#referenced > 0;
  }

  /** One more needs it, and is referenced to begin with. @throws what its beginning throws; then nothing has changed */
  share(): Life {
    this.#users += 1;
    this.#referenced += 1;
    if (this.#users === 1) this.#start();
    else if (this.#referenced === 1) this.#life?.ref();
    return new Share(this);
  }

  /** For a {@link Share}: one is referenced, that was not. */
  reference(): void {
    this.#referenced += 1;
    if (this.#referenced === 1) this.#life?.ref();
  }

  /** For a {@link Share}: one is not, that was. */
  unreference(): void {
    this.#referenced -= 1;
    if (this.#referenced === 0) this.#life?.unref();
  }

  /** For a {@link Share}: one has ended. */
  leave(wasReferenced: boolean): void {
    this.#users -= 1;
    if (this.#users > 0) {
      if (wasReferenced) this.unreference();
      return;
    }
    const life = this.#life;
    this.#referenced = 0;
    this.#life = undefined;
    life?.end();
  }

  #start(): void {
    try {
      this.#life = this.begin();
    } catch (error) {
      this.#users -= 1;
      this.#referenced -= 1;
      throw error;
    }
  }
}

class Share implements Life {
  #isReferenced = true;
  #isOver = false;

  constructor(private readonly all: SharedLife) {}

  ref(): void {
    if (this.#isReferenced || this.#isOver) return;
    this.#isReferenced = true;
    this.all.reference();
  }

  unref(): void {
    if (!this.#isReferenced || this.#isOver) return;
    this.#isReferenced = false;
    this.all.unreference();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.all.leave(this.#isReferenced);
  }
}
