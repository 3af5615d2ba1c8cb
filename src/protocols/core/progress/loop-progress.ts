import { type ChannelFollowing, followCompChannel } from '../../../api/provider/index.js';
import { type EventFollower, type Life, SharedLife } from '../../../api/runtime/index.js';
import { type CompChannel, type Cq, VerbsError } from '../../../api/verbs/index.js';

/** Completions in a row after which others of the event loop have their turn. */
export const BATCH = 64;

/** Keeps an engine going from the event loop, and the process alive, until it is released. */
export interface Hold extends Disposable {
  /** Idempotent. */
  release(): void;
  /** Whether it keeps the process alive: it does, to begin with. Idempotent. */
  ref(): void;
  unref(): void;
}

export interface Moved {
  readonly channel: CompChannel;
  readonly cq: Cq;
  /** Why nothing completes any more. */
  readonly failure: VerbsError | undefined;
  /** Takes at most so many completions, and returns how many. */
  progress(limit: number, isAwaited: boolean): number;
  /** Nothing completes any more. */
  fail(failure: VerbsError): void;
  /** Calls `action` once others of the event loop have had their turn, before any time passes on the device's clock. */
  nextTurn(action: () => void): void;
}

/** Moves an engine from the event loop, for as long as anybody holds it. */
export class LoopProgress implements EventFollower<Cq> {
  readonly #holds = new SharedLife(() => this.#begin());
  #following: ChannelFollowing | undefined;
  #isDue = false;
  /** What was announced was not looked at. */
  #isBehind = false;

  constructor(private readonly moved: Moved) {}

  get holds(): number {
    return this.#holds.users;
  }

  hold(): Hold {
    const life = this.#holds.share();
    const release = (): void => life.end();
    return { release, ref: () => life.ref(), unref: () => life.unref(), [Symbol.dispose]: release };
  }

  onEvent(cq: Cq): void {
    cq.ackEvents();
    if (!this.#isDue) this.#advance();
  }

  onEnd(): void {
    const message = 'the device was closed';
    this.moved.fail(new VerbsError('engine', { errno: 'ECANCELED', message, advice: '' }));
  }

  onFailure(error: unknown): void {
    if (!(error instanceof VerbsError)) throw error;
    this.moved.fail(error);
  }

  #begin(): Life {
    if (this.moved.failure === undefined) this.#follow();
    return {
      ref: () => this.#following?.reference(true),
      unref: () => this.#following?.reference(false),
      end: () => this.#rest(),
    };
  }

  #follow(): void {
    this.#following = followCompChannel(this.moved.channel, this);
    // The queue was told to announce what comes, so what has come lies there as an event, unless that was taken in vain.
    this.#following.start();
    if (this.#isBehind) this.#takeTurns();
  }

  #rest(): void {
    const following = this.#following;
    this.#following = undefined;
    following?.stop();
    following?.reference(true);
  }

  #goOn(): void {
    this.#isDue = false;
    if (this.#holds.users > 0) this.#advance();
    else this.#isBehind = true;
  }

  /**
   * Takes what is there, a batch at most, the rest in the next turn of the loop. The next is to be announced first: what comes from
   * then on is, so nobody need look at a queue that is empty.
   */
  #advance(): void {
    const { moved } = this;
    if (moved.failure !== undefined) return;
    this.#isBehind = false;
    let taken = BATCH;
    try {
      moved.cq.reqNotify();
      taken = moved.progress(BATCH, true);
    } finally {
      // Also when a handler has thrown: others wait, too.
      if (taken === BATCH) this.#takeTurns();
    }
  }

  #takeTurns(): void {
    if (this.#isDue) return;
    if (this.#holds.users === 0) {
      this.#isBehind = true;
      return;
    }
    this.#isDue = true;
    this.moved.nextTurn(() => this.#goOn());
  }
}
