import type { Clock, Link, LinkOptions } from '../index.js';
import type { ByteStream } from './byte-stream.js';
import { Greeting } from './greeting.js';

/** What those may have who have not said hello. */
export interface HalfOpenLimits {
  /** So many of them at a time: the oldest goes when another one comes, so that nobody is kept out by those who say nothing. */
  readonly count: number;
  /** Each of them so long. */
  readonly timeMs: number;
}

interface Guest {
  greeting: Greeting | undefined;
  forgetTimer: (() => void) | undefined;
}

/** Connections that have come and are no links yet. */
export class HalfOpen {
  readonly #guests = new Set<Guest>();
  #isClosed = false;

  constructor(
    private readonly options: LinkOptions,
    private readonly clock: Clock,
    private readonly limits: HalfOpenLimits,
    private readonly onLink: (link: Link) => void,
  ) {}

  get count(): number {
    return this.#guests.size;
  }

  add(stream: ByteStream): void {
    if (this.#isClosed) {
      stream.abort();
      return;
    }
    for (const oldest of this.#guests) {
      if (this.count < this.limits.count) break;
      this.#abandon(oldest);
    }
    const guest: Guest = { greeting: undefined, forgetTimer: undefined };
    this.#guests.add(guest);
    guest.forgetTimer = this.clock.chore(this.limits.timeMs, () => this.#abandon(guest));
    guest.greeting = new Greeting(stream, this.options, this.clock, {
      onLink: (link) => {
        this.#forget(guest);
        this.onLink(link);
      },
      onFailure: () => this.#forget(guest),
    });
  }

  /** Sends away those that there are, and whoever comes. Idempotent. */
  close(): void {
    this.#isClosed = true;
    for (const guest of this.#guests) this.#abandon(guest);
  }

  #abandon(guest: Guest): void {
    guest.greeting?.abandon();
    this.#forget(guest);
  }

  #forget(guest: Guest): void {
    guest.forgetTimer?.();
    this.#guests.delete(guest);
  }
}
