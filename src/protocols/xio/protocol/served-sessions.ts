import { Action, type SetupRequest } from '../wire/index.js';

/** Connections that were sent on, of which it is remembered what has come. */
const MOST_PARTED = 4096;

export interface ServedEnd {
  /** The last number of the client's up to which all has come. */
  readonly received: number;
}

/** What is to become of a client that begins a session, or goes on with one. */
export type Verdict<E> =
  | { readonly action: 'begin' }
  | { readonly action: 'resume'; readonly end: E }
  | { readonly action: typeof Action.UNKNOWN; readonly received: number }
  | { readonly action: 'distrust'; readonly lie: string };

export class ServedSessions<E extends ServedEnd> {
  readonly #ends = new Map<string, E>();
  /** Up to which number all has come of clients that were sent on, and may not have heard it. */
  readonly #parted = new Map<string, number>();

  /** @param epoch what tells this life of the server from others, at random */
  constructor(readonly epoch: Uint8Array) {}

  get size(): number {
    return this.#ends.size;
  }

  /** Decides about SESSION. @param received what the client says that it has received */
  decide(request: SetupRequest, received: number): Verdict<E> {
    const end = this.#ends.get(keyOf(request));
    if (request.isKnown) {
      // Another server, or another life of this one, knows it, or knew.
      if (!equal(request.epoch, this.epoch)) return { action: Action.UNKNOWN, received: 0 };
      if (end === undefined) return { action: Action.UNKNOWN, received: this.#parted.get(keyOf(request)) ?? 0 };
      return { action: 'resume', end };
    }
    if (end === undefined) return { action: 'begin' };
    // It has not heard the answer.
    if (end.received === 0 && received === 0) return { action: 'resume', end };
    return { action: 'distrust', lie: 'a session begins that there is already' };
  }

  add(request: SetupRequest, end: E): void {
    this.#ends.set(keyOf(request), end);
  }

  /** A connection has ended that was sent on: its client may ask once more what has come. */
  part(request: SetupRequest, received: number): void {
    this.#parted.set(keyOf(request), received);
    const [oldest] = this.#parted.keys();
    if (this.#parted.size > MOST_PARTED) this.#parted.delete(oldest);
  }

  /** Forgets a connection, where it is the one that is meant. */
  removeIf(request: SetupRequest, isMeant: (end: E) => boolean): void {
    const key = keyOf(request);
    const end = this.#ends.get(key);
    if (end !== undefined && isMeant(end)) this.#ends.delete(key);
  }
}

function keyOf({ sessionId, connection }: SetupRequest): string {
  return `${hex(sessionId)}/${connection}`;
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
