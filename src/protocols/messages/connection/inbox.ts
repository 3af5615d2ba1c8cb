import { type WaitSource, Waiters } from '../../../api/runtime/index.js';
import { Kind } from '../protocol/kinds.js';

/** Gets receives back whose messages were taken. */
export interface ReceiveOwner {
  taken(receive: number): void;
  /** The program waits for a message. */
  awaited(): void;
}

export interface Received {
  readonly bytes: Uint8Array;
  /** The receive that the bytes lie in; undefined where they are the program's own already. */
  readonly receive: number | undefined;
}

interface Held {
  readonly kind: Kind;
  readonly receive: number;
  readonly bytes: Uint8Array;
}

/**
 * What has come and was not yet taken by the program, in the receives that it came in: so a program that takes nothing stalls its
 * peer, and costs no more than the window. Fragments are put together as they come, but one message ahead at most.
 */
export class Inbox implements WaitSource<Received> {
  readonly #waiters = new Waiters<Received>(this);
  #held: Held[] = [];
  #fragments: Uint8Array[] = [];
  #whole: Received | undefined;
  #end: { readonly error: Error | undefined } | undefined;

  constructor(private readonly receives: ReceiveOwner) {}

  /** Whether the program waits for a message. */
  get isAwaited(): boolean {
    return this.#waiters.isListening;
  }

  get length(): number {
    return this.#held.length + (this.#whole === undefined ? 0 : 1);
  }

  /** DATA, MORE or DISCARD has come. */
  push(kind: Kind, receive: number, bytes: Uint8Array): void {
    if (this.#waiters.closed) {
      this.receives.taken(receive);
      return;
    }
    this.#held.push({ kind, receive, bytes });
    this.#assemble();
    this.#waiters.serve();
  }

  /** The next message; undefined when no more will come. @throws (the promise rejects) the signal's reason, or why none will come */
  next(signal?: AbortSignal): Promise<Received | undefined> {
    return this.#waiters.next(signal);
  }

  iterate(): AsyncIterableIterator<Received, void, undefined> {
    return this.#waiters.iterate();
  }

  /** No more will come, for a reason that whoever waits is told, or for none. What has come can still be taken. */
  end(error: Error | undefined): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    if (error !== undefined) this.#waiters.serve();
    else this.#closeIfEmpty();
  }

  /** Drops what was not taken, and what still comes, and ends every wait. */
  clear(): void {
    this.#end ??= { error: undefined };
    const held = this.#held.splice(0);
    const { receive } = this.#whole ?? {};
    this.#whole = undefined;
    this.#fragments = [];
    for (const frame of held) this.receives.taken(frame.receive);
    if (receive !== undefined) this.receives.taken(receive);
    this.#waiters.close();
  }

  take(): Received | undefined {
    const received = this.#whole ?? this.#inPlace();
    this.#whole = undefined;
    if (received !== undefined) {
      this.#assemble();
      this.#closeIfEmpty();
      return received;
    }
    if (this.#end?.error !== undefined) throw this.#end.error;
    return undefined;
  }

  listen(): void {
    // Whatever comes serves those who wait, and a connection keeps the process alive by itself.
    this.receives.awaited();
  }

  rest(): void {
    // As above.
  }

  /** A message that lies in one receive whole. */
  #inPlace(): Received | undefined {
    const [first] = this.#held;
    if (this.#held.length === 0 || first.kind !== Kind.DATA) return undefined;
    this.#held.shift();
    return { bytes: first.bytes, receive: first.receive };
  }

  #assemble(): void {
    while (this.#whole === undefined && this.#held.length > 0) {
      const [{ kind, receive, bytes }] = this.#held;
      if (kind === Kind.DATA && this.#fragments.length === 0) return;
      this.#held.shift();
      if (kind === Kind.DISCARD) this.#fragments = [];
      else this.#fragments.push(bytes.slice());
      if (kind === Kind.DATA) {
        this.#whole = { bytes: joined(this.#fragments), receive: undefined };
        this.#fragments = [];
      }
      this.receives.taken(receive);
    }
  }

  #closeIfEmpty(): void {
    if (this.#end === undefined || this.#end.error !== undefined || this.length > 0) return;
    // What was taken last is still on its way to who waits.
    queueMicrotask(() => this.#waiters.close());
  }
}

function joined(fragments: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(fragments.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const fragment of fragments) {
    whole.set(fragment, offset);
    offset += fragment.length;
  }
  return whole;
}
