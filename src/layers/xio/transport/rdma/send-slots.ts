import { WcStatus } from '../../../../device/ibta/index.js';
import { type Cq, type Qp, VerbsError } from '../../../../api/verbs/index.js';
import { type Engine, type Requests, type SendHandler, Signaling } from '../../../engine/index.js';

const NOTHING = new Uint8Array(0);

/** Is told what becomes of the requests of a queue pair. */
export interface SendListener {
  /** Some have been done, or have failed: there is room again. */
  onRoom(): void;
  /** One has failed, and so all after it do. */
  onFailed(status: WcStatus | undefined): void;
}

/** What is to happen once a request is done, or will never be. @param status of the request itself, where it has failed by one */
export type Afterwards = (isDone: boolean, status: WcStatus | undefined) => void;

/** The send queue of a queue pair. What one pass over the completion queue begins is posted as one list; what nobody waits for may be unsignaled. */
export class SendSlots implements SendHandler {
  readonly #requests: Requests;
  readonly #signaling: Signaling;
  readonly #afterwards: (Afterwards | undefined)[];
  readonly #free: number[];
  readonly #post = (): void => this.#complete();
  readonly #tellRoom = (): void => {
    this.#mustTell = false;
    this.listener.onRoom();
  };
  #isOpen = false;
  #mustTell = false;
  #hasEnded = false;

  constructor(
    private readonly engine: Engine,
    private readonly qp: Qp,
    private readonly depth: number,
    private readonly listener: SendListener,
    owner: string,
  ) {
    this.#requests = engine.sends(this, depth, owner);
    this.#signaling = new Signaling(depth);
    this.#afterwards = new Array<Afterwards | undefined>(depth).fill(undefined);
    this.#free = Array.from({ length: depth }, (_, index) => depth - 1 - index);
  }

  /** Requests that can be begun. */
  get room(): number {
    return this.#free.length;
  }

  get isEmpty(): boolean {
    return this.#free.length === this.depth;
  }

  /** Whether nothing tells of the end of what was begun last. */
  get endsUnsignaled(): boolean {
    return this.#signaling.endsUnsignaled;
  }

  /**
   * Begins a request: what it does is then said to the queue pair that this returns, and {@link end} ends it. There must be room.
   *
   * @param isAwaited whether somebody waits for its end, be it without `afterwards`
   * @returns undefined when the device is gone, of which the listener is told; `afterwards` was called then
   */
  begin(afterwards: Afterwards | undefined, isAwaited = afterwards !== undefined): Qp | undefined {
    const { qp } = this;
    try {
      if (!this.#isOpen) qp.wrStart();
      this.#isOpen = true;
      qp.wrId = this.#requests.expect(this.#free[this.#free.length - 1]);
    } catch (error) {
      afterwards?.(false, undefined);
      this.#refused(error);
      return undefined;
    }
    qp.wrFlags = this.#signaling.next(isAwaited, this.#free.length);
    const index = this.#free.pop();
    if (index !== undefined) this.#afterwards[index] = afterwards;
    return qp;
  }

  /** Has the peer answer to nothing, and so to all before it. There must be room. */
  ask(): void {
    const qp = this.begin(undefined, true);
    if (qp === undefined) return;
    // A peer that is gone does not answer even to nothing; no key is looked at where nothing is written (protocol.md 2.8).
    qp.wrRdmaWrite(0, 0n);
    qp.wrSetInlineData(NOTHING);
    this.end();
  }

  /** Posts what was begun, now or at the end of the pass that is going on. */
  end(): void {
    this.engine.afterPass(this.#post);
  }

  /** The queue pair was destroyed: nobody works on its requests any more. Idempotent. */
  destroyed(): void {
    this.#hasEnded = true;
    this.#requests.end();
  }

  onDone(index: number): void {
    this.#leave(index, true, WcStatus.SUCCESS);
  }

  onCompletion(index: number, cq: Cq): void {
    const { status } = cq;
    const isDone = status === WcStatus.SUCCESS;
    if (!isDone) this.listener.onFailed(status);
    this.#leave(index, isDone, status);
    if (this.#mustTell) return;
    this.#mustTell = true;
    this.engine.afterPass(this.#tellRoom);
  }

  onLost(index: number): void {
    this.listener.onFailed(undefined);
    this.#leave(index, false, undefined);
  }

  #leave(index: number, isDone: boolean, status: WcStatus | undefined): void {
    const afterwards = this.#afterwards[index];
    this.#afterwards[index] = undefined;
    this.#free.push(index);
    afterwards?.(isDone, status);
  }

  #complete(): void {
    if (!this.#isOpen || this.#hasEnded) return;
    this.#isOpen = false;
    try {
      this.qp.wrComplete();
    } catch (error) {
      // The engine tells of all that was begun when the device is lost, or the queue pair has ended.
      this.#refused(error);
    }
  }

  #refused(error: unknown): void {
    if (!(error instanceof VerbsError)) throw error;
    this.listener.onFailed(undefined);
  }
}
