import type { Session, ValueBuffer } from './sessions.js';

// Values that do not fit a message: the server reads them out of the client's memory, or writes them there (protocol/kv.md 6.7).

/** How many bytes may be on their way at a time. A value that is longer by itself goes alone. */
export interface TransferLimits {
  readonly maxBytes: number;
  readonly maxClientBytes: number;
}

/** The room that a value has been given. */
export interface Grant {
  readonly buffer: ValueBuffer;
  /** The value has arrived, or never will. To be called once. */
  release(): void;
}

interface Waiter {
  readonly session: Session;
  readonly bytes: number;
  readonly use: (grant: Grant | undefined) => void;
}

/** Gives values room in the order in which they come, so many bytes for each client and for all. */
export class Transfers {
  #bytes = 0;
  #waiting: Waiter[] = [];

  /** @param lend lends memory for a value of a session's client; undefined when there is none */
  constructor(
    private readonly limits: TransferLimits,
    private readonly lend: (bytes: number, session: Session) => ValueBuffer | undefined,
  ) {}

  /** Bytes that are on their way. */
  get bytes(): number {
    return this.#bytes;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Asks for room for a value.
   *
   * @param use is called once there is, at once or later; with undefined where there is no memory, and never when the session has ended
   * @returns false when as many values of that client are on their way, or wait, as it has slots
   */
  ask(session: Session, bytes: number, use: (grant: Grant | undefined) => void): boolean {
    if (session.transfers >= session.slots.size) return false;
    session.transfers += 1;
    const waiter = { session, bytes, use };
    if (this.#hasRoom(waiter)) this.#serve(waiter);
    else this.#waiting.push(waiter);
    return true;
  }

  #hasRoom({ session, bytes }: Waiter): boolean {
    const { maxBytes, maxClientBytes } = this.limits;
    return fits(session.transferBytes, bytes, maxClientBytes) && fits(this.#bytes, bytes, maxBytes);
  }

  #serve({ session, bytes, use }: Waiter): void {
    const buffer = this.lend(bytes, session);
    if (buffer === undefined) {
      session.transfers -= 1;
      use(undefined);
      return;
    }
    session.transferBytes += bytes;
    this.#bytes += bytes;
    const release = (): void => {
      session.transferBytes -= bytes;
      this.#bytes -= bytes;
      session.transfers -= 1;
      buffer.release();
      this.#serveNext();
    };
    use({ buffer, release });
  }

  #serveNext(): void {
    for (const waiter of [...this.#waiting]) {
      const { session } = waiter;
      // Who is served may be done at once, and then the next have been served already.
      if (!this.#waiting.includes(waiter) || !(session.hasEnded || this.#hasRoom(waiter))) continue;
      this.#waiting = this.#waiting.filter((other) => other !== waiter);
      if (session.hasEnded) session.transfers -= 1;
      else this.#serve(waiter);
    }
  }
}

function fits(underWay: number, bytes: number, most: number): boolean {
  return underWay === 0 || underWay + bytes <= most;
}
