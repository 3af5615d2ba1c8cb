import { WcStatus } from '../../../../device/ibta/index.js';
import type { Cq, Qp } from '../../../../api/verbs/index.js';
import { type Engine, SendList, type SendListHandler } from '../../../core/index.js';

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

/** The send queue of a queue pair. What nobody waits for may be unsignaled. */
export class SendSlots implements SendListHandler {
  readonly #list: SendList;
  /** By place of the list. */
  readonly #afterwards: (Afterwards | undefined)[];
  readonly #tellRoom = (): void => {
    this.#mustTell = false;
    this.listener.onRoom();
  };
  #mustTell = false;

  constructor(
    private readonly engine: Engine,
    private readonly qp: Qp,
    depth: number,
    private readonly listener: SendListener,
    owner: string,
  ) {
    this.#list = new SendList(engine, qp, depth, this, owner);
    this.#afterwards = new Array<Afterwards | undefined>(depth).fill(undefined);
  }

  /** Requests that can be begun. */
  get room(): number {
    return this.#list.room;
  }

  get isEmpty(): boolean {
    return this.#list.isEmpty;
  }

  /** Whether nothing tells of the end of what was begun last. */
  get endsUnsignaled(): boolean {
    return this.#list.endsUnsignaled;
  }

  /**
   * Begins a request: what it does is then said to the queue pair that this returns, and {@link end} ends it. There must be room.
   *
   * @param isAwaited whether somebody waits for its end, be it without `afterwards`
   * @returns undefined when the device is gone, of which the listener is told; `afterwards` was called then
   */
  begin(afterwards: Afterwards | undefined, isAwaited = afterwards !== undefined): Qp | undefined {
    const place = this.#list.begin(isAwaited);
    if (place === undefined) {
      afterwards?.(false, undefined);
      return undefined;
    }
    this.#afterwards[place] = afterwards;
    return this.qp;
  }

  /** Has the peer answer to nothing, and so to all before it. There must be room. */
  ask(): void {
    const qp = this.begin(undefined, true);
    if (qp === undefined) return;
    // A peer that is gone does not answer even to nothing; no key is looked at where nothing is written (protocol/reliable.md 2.8).
    qp.wrRdmaWrite(0, 0n);
    qp.wrSetInlineData(NOTHING);
    this.end();
  }

  /** Posts what was begun, now or at the end of the pass that is going on. */
  end(): void {
    this.#list.end();
  }

  /** The queue pair was destroyed: nobody works on its requests any more. Idempotent. */
  destroyed(): void {
    this.#list.destroyed();
  }

  onDone(place: number): void {
    this.#leave(place, true, WcStatus.SUCCESS);
  }

  onCompletion(place: number, cq: Cq): void {
    const { status } = cq;
    const isDone = status === WcStatus.SUCCESS;
    if (!isDone) this.listener.onFailed(status);
    this.#leave(place, isDone, status);
    if (this.#mustTell) return;
    this.#mustTell = true;
    this.engine.afterPass(this.#tellRoom);
  }

  onLost(place: number): void {
    this.onRefused();
    this.#leave(place, false, undefined);
  }

  onRefused(): void {
    this.listener.onFailed(undefined);
  }

  #leave(place: number, isDone: boolean, status: WcStatus | undefined): void {
    const afterwards = this.#afterwards[place];
    this.#afterwards[place] = undefined;
    this.#list.leave(place);
    afterwards?.(isDone, status);
  }
}
