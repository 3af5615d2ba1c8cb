import { type Qp, VerbsError } from '../../../api/verbs/index.js';
import type { Engine } from './engine.js';
import type { Requests, SendHandler } from './requests.js';
import { Signaling } from './signaling.js';

/** Is told what became of the requests of a {@link SendList}. */
export interface SendListHandler extends SendHandler {
  /** What was begun cannot be posted, and nor can anything after it: the device is gone. What is under way is told of as always. */
  onRefused(error: VerbsError): void;
}

/**
 * The send queue of one queue pair: its places, and how requests are begun and posted. What handlers of one pass over the completion queue begin
 * is posted as one list, by one doorbell. Requests that nobody waits for may be unsignaled.
 */
export class SendList {
  readonly #requests: Requests;
  readonly #signaling: Signaling;
  readonly #free: number[];
  readonly #post = (): void => this.post();
  /** Whether a list is begun, and not posted yet. */
  #isOpen = false;
  #hasEnded = false;

  /**
   * @param depth requests that may be under way
   * @param owner whose they are, in messages of leaks
   */
  constructor(
    private readonly engine: Engine,
    private readonly qp: Qp,
    private readonly depth: number,
    private readonly handler: SendListHandler,
    owner: string,
  ) {
    this.#requests = engine.sends(handler, depth, owner);
    this.#signaling = new Signaling(depth);
    this.#free = Array.from({ length: depth }, (_, index) => depth - 1 - index);
  }

  /** Requests that can be begun. */
  get room(): number {
    return this.#free.length;
  }

  /** Whether nothing is under way. */
  get isEmpty(): boolean {
    return this.#free.length === this.depth;
  }

  /** Whether nothing tells of the end of what was begun last. */
  get endsUnsignaled(): boolean {
    return this.#signaling.endsUnsignaled;
  }

  /**
   * Begins a request: what it does is then said to the queue pair, and {@link end} ends it. There must be {@link room}.
   *
   * @param isAwaited whether somebody waits for its end
   * @returns its place, which the handler is told, and gives back by {@link leave}; undefined when it is refused, of which the handler was told
   */
  begin(isAwaited: boolean): number | undefined {
    const { qp } = this;
    const place = this.#free[this.#free.length - 1];
    try {
      if (!this.#isOpen) qp.wrStart();
      this.#isOpen = true;
      qp.wrId = this.#requests.expect(place);
    } catch (error) {
      this.#refused(error);
      return undefined;
    }
    qp.wrFlags = this.#signaling.next(isAwaited, this.#free.length);
    this.#free.pop();
    return place;
  }

  /** Posts what was begun, now or at the end of the pass that is going on. */
  end(): void {
    this.engine.afterPass(this.#post);
  }

  /** Posts at once what was begun, if anything: nobody will give way any more before the queue pair ends. */
  post(): void {
    if (!this.#isOpen || this.#hasEnded) return;
    this.#isOpen = false;
    try {
      this.qp.wrComplete();
    } catch (error) {
      // The engine tells of all that was begun when the device is lost, or the queue pair has ended.
      this.#refused(error);
    }
  }

  /** A place is free again. */
  leave(place: number): void {
    this.#free.push(place);
  }

  /** The queue pair was destroyed: nobody works on its requests any more. Idempotent. */
  destroyed(): void {
    this.#hasEnded = true;
    this.#requests.end();
  }

  #refused(error: unknown): void {
    if (!(error instanceof VerbsError)) throw error;
    this.handler.onRefused(error);
  }
}
