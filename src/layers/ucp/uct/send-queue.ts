import { WcStatus } from '../../../device/ibta/index.js';
import { type Cq, type Qp, VerbsError } from '../../../api/verbs/index.js';
import { type Engine, type Lease, type Requests, type SendHandler, Signaling } from '../../engine/index.js';
import { UcsStatus } from '../wire/index.js';
import type { Completion } from './endpoint.js';

/** Is told what becomes of the requests of a queue pair. */
export interface SendListener {
  /** One has been done. They are, in the order in which they were begun. */
  onDone(): void;
  /** One has failed, and all after it will. */
  onFailed(status: UcsStatus): void;
  /** Why those that fail from now on do. */
  readonly failure: UcsStatus | undefined;
}

/** What is to happen once a request is done. */
export interface Afterwards {
  readonly completion?: Completion | undefined;
  /** Is given the lease's bytes, before the completion is told. */
  readonly onRead?: ((bytes: Uint8Array) => void) | undefined;
}

const NOTHING: Afterwards = {};

/** A place in the send queue: one object for life. */
class Slot {
  lease: Lease | undefined;
  afterwards = NOTHING;

  constructor(readonly index: number) {}
}

/**
 * The send queue of one queue pair. What handlers of one pass over the completion queue begin is posted as one list.
 * Requests that nobody waits for, and that hold nothing, may be unsignaled.
 */
export class SendQueue implements SendHandler {
  readonly #requests: Requests;
  readonly #slots: readonly Slot[];
  readonly #free: Slot[];
  readonly #post = (): void => this.#complete();
  readonly #signaling: Signaling;
  /** Whether a list is begun, and not posted yet. */
  #isOpen = false;
  #hasEnded = false;

  constructor(
    private readonly engine: Engine,
    private readonly qp: Qp,
    depth: number,
    private readonly listener: SendListener,
    owner: string,
  ) {
    this.#requests = engine.sends(this, depth, owner);
    this.#signaling = new Signaling(depth);
    this.#slots = Array.from({ length: depth }, (_, index) => new Slot(index));
    this.#free = [...this.#slots].reverse();
  }

  /** Whether a request can be begun. */
  get hasRoom(): boolean {
    return this.#free.length > 0;
  }

  /** Whether nothing is under way. */
  get isEmpty(): boolean {
    return this.#free.length === this.#slots.length;
  }

  /** Whether nothing tells of the end of what was begun last. */
  get endsUnsignaled(): boolean {
    return this.#signaling.endsUnsignaled;
  }

  /** How many can be. */
  get room(): number {
    return this.#free.length;
  }

  /**
   * Begins a request: what it does is then said to the queue pair that this returns, and {@link end} ends it. There must be {@link hasRoom room}.
   *
   * @param lease goes back when the request has been done, or has failed, or now when it cannot be begun
   * @param isAwaited whether somebody waits for its end, be it without `afterwards`
   * @returns undefined when the device is gone, which the listener was told
   */
  begin(
    lease: Lease | undefined,
    afterwards = NOTHING,
    isAwaited = lease !== undefined || afterwards !== NOTHING,
  ): Qp | undefined {
    const slot = this.#free[this.#free.length - 1];
    const { qp } = this;
    try {
      if (!this.#isOpen) qp.wrStart();
      this.#isOpen = true;
      qp.wrId = this.#requests.expect(slot.index);
    } catch (error) {
      lease?.release();
      this.#refused(error);
      return undefined;
    }
    qp.wrFlags = this.#signaling.next(isAwaited, this.#free.length);
    this.#free.pop();
    slot.lease = lease;
    slot.afterwards = afterwards;
    return qp;
  }

  /** Posts what was begun, now or at the end of the pass that is going on. */
  end(): void {
    this.engine.afterPass(this.#post);
  }

  /** The queue pair was destroyed: all that is under way has failed. Idempotent. */
  destroyed(): void {
    this.#hasEnded = true;
    this.#requests.end();
  }

  onDone(index: number): void {
    this.#leave(this.#slots[index], UcsStatus.UCS_OK);
    this.listener.onDone();
  }

  onCompletion(index: number, cq: Cq): void {
    const { status } = cq;
    if (status === WcStatus.SUCCESS) {
      this.onDone(index);
      return;
    }
    this.listener.onFailed(statusOf(status));
    this.#leave(this.#slots[index], this.listener.failure ?? statusOf(status));
  }

  onLost(index: number): void {
    this.listener.onFailed(UcsStatus.UCS_ERR_CONNECTION_RESET);
    this.#leave(this.#slots[index], this.listener.failure ?? UcsStatus.UCS_ERR_CONNECTION_RESET);
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
    this.listener.onFailed(UcsStatus.UCS_ERR_CONNECTION_RESET);
  }

  #leave(slot: Slot, status: UcsStatus): void {
    const { lease, afterwards } = slot;
    slot.lease = undefined;
    slot.afterwards = NOTHING;
    if (status === UcsStatus.UCS_OK && lease !== undefined) afterwards.onRead?.(lease.bytes);
    lease?.release();
    this.#free.push(slot);
    afterwards.completion?.onComplete(status);
  }
}

/** What a failed request means for its endpoint. */
export function statusOf(status: WcStatus): UcsStatus {
  switch (status) {
    case WcStatus.RETRY_EXC_ERR:
    case WcStatus.RNR_RETRY_EXC_ERR:
      return UcsStatus.UCS_ERR_ENDPOINT_TIMEOUT;
    case WcStatus.WR_FLUSH_ERR:
      return UcsStatus.UCS_ERR_CONNECTION_RESET;
    default:
      return UcsStatus.UCS_ERR_IO_ERROR;
  }
}
