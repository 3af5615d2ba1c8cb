import type { Received, ReceiveOwner } from './inbox.js';

/** A message where it lies, in a buffer that the peer needs again. */
export interface MessageLease extends Disposable {
  /** Its bytes, until it is released. */
  readonly bytes: Uint8Array;
  /** Gives the buffer back to the peer. Idempotent. */
  release(): void;
}

/** The bytes of a message, as the program's own. */
export function ownBytes({ bytes, receive }: Received, owner: ReceiveOwner): Uint8Array {
  if (receive === undefined) return bytes;
  const own = bytes.slice();
  owner.taken(receive);
  return own;
}

export function leaseOf({ bytes, receive }: Received, owner: ReceiveOwner): MessageLease {
  let isHeld = receive !== undefined;
  const release = (): void => {
    if (!isHeld || receive === undefined) return;
    isHeld = false;
    owner.taken(receive);
  };
  return { bytes, release, [Symbol.dispose]: release };
}

/** The messages of a connection one after the other, each as `take` gives it. What it gave is released with the next step. */
export class MessagesIterator<T extends Uint8Array | MessageLease> implements AsyncIterableIterator<
  T,
  void,
  undefined
> {
  #lent: T | undefined;

  constructor(
    private readonly inbox: AsyncIterableIterator<Received, void, undefined>,
    private readonly owner: ReceiveOwner,
    private readonly take: (received: Received, owner: ReceiveOwner) => T,
  ) {}

  async next(): Promise<IteratorResult<T, void>> {
    this.#release();
    const { done, value } = await this.inbox.next();
    if (done === true) return { done, value: undefined };
    this.#lent = this.take(value, this.owner);
    return { done: false, value: this.#lent };
  }

  async return(): Promise<IteratorResult<T, void>> {
    this.#release();
    await this.inbox.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #release(): void {
    const lent = this.#lent;
    this.#lent = undefined;
    if (lent !== undefined && !(lent instanceof Uint8Array)) lent.release();
  }
}
