import { VerbsError } from '../../../api/verbs/index.js';

/** Connections that may be begun and not completed, at a time. */
const HALF_OPEN_LIMIT = 1024;
/** How long a client that is begun with is left alone though others wait: many round trips. */
const GRACE_US = 200_000;

/** How soon after {@link Admission.enter} has found no room it is worth another try, though nobody has left. */
export const ADMISSION_RETRY_MS = GRACE_US / 1000;

/** A client's place among those that a server has room for. */
export interface Place extends Disposable {
  /** Somebody else gets the place of a client that does not complete its connection. */
  readonly signal: AbortSignal;
  completed(): void;
}

/**
 * How many clients a server takes. One that asks for a connection and never completes it has its place only until somebody else
 * wants it: so strangers who do that by the thousand keep nobody out.
 */
export class Admission {
  readonly #halfOpen = new Set<HalfOpenPlace>();
  #completed = 0;

  /** @param limit connections at a time */
  constructor(readonly limit: number) {}

  /** @returns undefined when there is no room */
  enter(nowUs: number): Place | undefined {
    if (!this.#hasRoom()) {
      const [oldest] = this.#halfOpen;
      if (this.#halfOpen.size === 0 || nowUs - oldest.sinceUs < GRACE_US) return undefined;
      oldest.evict();
    }
    const place = new HalfOpenPlace(nowUs, {
      complete: (completed) => {
        if (this.#halfOpen.delete(completed)) this.#completed += 1;
      },
      leave: (left) => {
        if (!this.#halfOpen.delete(left) && left.isCompleted) this.#completed -= 1;
      },
    });
    this.#halfOpen.add(place);
    return place;
  }

  #hasRoom(): boolean {
    const { size } = this.#halfOpen;
    return size < HALF_OPEN_LIMIT && size + this.#completed < this.limit;
  }
}

interface Counting {
  complete(place: HalfOpenPlace): void;
  leave(place: HalfOpenPlace): void;
}

class HalfOpenPlace implements Place {
  readonly #controller = new AbortController();
  #state: 'half open' | 'completed' | 'left' = 'half open';

  constructor(
    readonly sinceUs: number,
    private readonly counting: Counting,
  ) {}

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isCompleted(): boolean {
    return this.#state === 'completed';
  }

  completed(): void {
    if (this.#state !== 'half open') return;
    this.counting.complete(this);
    this.#state = 'completed';
  }

  evict(): void {
    this[Symbol.dispose]();
    const message = 'the client did not complete its connection, and another has its place';
    this.#controller.abort(new VerbsError('serve', { errno: 'ETIMEDOUT', message, advice: '' }));
  }

  [Symbol.dispose](): void {
    if (this.#state === 'left') return;
    this.counting.leave(this);
    this.#state = 'left';
  }
}
