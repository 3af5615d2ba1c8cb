import { invalid, VerbsError } from './errors.js';

const NAMED_HOLDERS = 3;

/**
 * Lifetime of an object of a device: it is made once, used, and ended once. While something uses it, it cannot be
 * ended (EBUSY); once ended, it cannot be used (EINVAL).
 *
 * A provider makes the object in its device first and this afterwards, since making it counts at once as a use of
 * `uses`.
 */
export abstract class Resource implements Disposable {
  readonly #endCall: string;
  readonly #uses: ReadonlySet<Resource>;
  readonly #users = new Set<Resource>();
  #alive = true;

  /**
   * @param endCall the C name of the call that ends it: `ibv_dealloc_pd`
   * @param uses what it cannot exist without
   */
  protected constructor(endCall: string, uses: readonly Resource[]) {
    this.#endCall = endCall;
    this.#uses = new Set(uses);
    for (const used of this.#uses) used.#users.add(this);
  }

  /** How an error names it: `QP 0x12`. */
  protected abstract readonly label: string;

  /** Ends it in the device. When this throws, the object goes on existing. */
  protected abstract release(): void;

  /** Why it cannot be ended although nothing uses it, or undefined. */
  protected busyReason(): string | undefined {
    return undefined;
  }

  /**
   * Called instead of {@link release} when the object ends because its device does: for those that have something of their own
   * to let go of. They set it when they are all made, for whoever is interrupted in a constructor has nothing yet.
   */
  protected abandoned: (() => void) | undefined;

  get destroyed(): boolean {
    return !this.#alive;
  }

  /** @throws VerbsError EINVAL when it was ended */
  protected assertAlive(call: string): void {
    if (this.#alive) return;
    throw new VerbsError(call, invalid(`${this.label} was ended before`, `Nothing can be done with it after that`));
  }

  /**
   * Ends it: the body of `destroy`, `dealloc`, `dereg`.
   *
   * @throws VerbsError EINVAL when it was ended before, EBUSY while something uses it
   */
  protected end(): void {
    this.assertAlive(this.#endCall);
    const reason = this.#users.size > 0 ? `is in use by ${this.#holders()}` : this.busyReason();
    if (reason !== undefined) {
      const advice = this.#users.size > 0 ? 'End what uses it first; `using` ends things in the right order' : '';
      throw new VerbsError(this.#endCall, { errno: 'EBUSY', message: `${this.label} ${reason}`, advice });
    }
    this.release();
    this.#forget();
  }

  /** Ends it and all that uses it, as the end of a device does; only this object is released. */
  protected endWithUsers(): void {
    this.assertAlive(this.#endCall);
    this.release();
    this.#abandonUsers();
    this.#forget();
  }

  /** Ends it, unless it was ended before. */
  [Symbol.dispose](): void {
    if (this.#alive) this.end();
  }

  #abandonUsers(): void {
    // Latest first: what was made last may use what was made before.
    for (const user of [...this.#users].reverse()) {
      user.#abandonUsers();
      user.#forget();
      user.abandoned?.();
    }
  }

  #forget(): void {
    this.#alive = false;
    for (const used of this.#uses) used.#users.delete(this);
  }

  #holders(): string {
    return namesOfHolders([...this.#users].map((user) => user.label));
  }
}

/** Names what holds an object, for an EBUSY sentence: the first few, and how many more there are. */
export function namesOfHolders(holders: readonly string[]): string {
  const labels = holders.slice(0, NAMED_HOLDERS);
  const others = holders.length - labels.length;
  if (others > 0) labels.push(`${others} more`);
  return labels.length === 1 ? labels[0] : `${labels.slice(0, -1).join(', ')} and ${labels[labels.length - 1]}`;
}
