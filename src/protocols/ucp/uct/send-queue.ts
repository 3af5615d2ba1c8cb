import { WcStatus } from '../../../device/ibta/index.js';
import type { Cq, Qp } from '../../../api/verbs/index.js';
import { type Engine, type Lease, SendList, type SendListHandler } from '../../core/index.js';
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

/** The send queue of one queue pair. Requests that nobody waits for, and that hold nothing, may be unsignaled. */
export class SendQueue implements SendListHandler {
  readonly #list: SendList;
  /** By place of the list. */
  readonly #leases: (Lease | undefined)[];
  readonly #afterwards: Afterwards[];

  constructor(
    engine: Engine,
    private readonly qp: Qp,
    depth: number,
    private readonly listener: SendListener,
    owner: string,
  ) {
    this.#list = new SendList(engine, qp, depth, this, owner);
    this.#leases = new Array<Lease | undefined>(depth).fill(undefined);
    this.#afterwards = new Array<Afterwards>(depth).fill(NOTHING);
  }

  /** Whether a request can be begun. */
  get hasRoom(): boolean {
    return this.#list.room > 0;
  }

  /** Whether nothing is under way. */
  get isEmpty(): boolean {
    return this.#list.isEmpty;
  }

  /** Whether nothing tells of the end of what was begun last. */
  get endsUnsignaled(): boolean {
    return this.#list.endsUnsignaled;
  }

  /** How many can be. */
  get room(): number {
    return this.#list.room;
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
    const place = this.#list.begin(isAwaited);
    if (place === undefined) {
      lease?.release();
      return undefined;
    }
    this.#leases[place] = lease;
    this.#afterwards[place] = afterwards;
    return this.qp;
  }

  /** Posts what was begun, now or at the end of the pass that is going on. */
  end(): void {
    this.#list.end();
  }

  /** Posts at once what was begun, if anything. */
  post(): void {
    this.#list.post();
  }

  /** The queue pair was destroyed: all that is under way has failed. Idempotent. */
  destroyed(): void {
    this.#list.destroyed();
  }

  onDone(place: number): void {
    this.#leave(place, UcsStatus.UCS_OK);
    this.listener.onDone();
  }

  onCompletion(place: number, cq: Cq): void {
    const { status } = cq;
    if (status === WcStatus.SUCCESS) {
      this.onDone(place);
      return;
    }
    this.listener.onFailed(statusOf(status));
    this.#leave(place, this.listener.failure ?? statusOf(status));
  }

  onLost(place: number): void {
    this.onRefused();
    this.#leave(place, this.listener.failure ?? UcsStatus.UCS_ERR_CONNECTION_RESET);
  }

  onRefused(): void {
    this.listener.onFailed(UcsStatus.UCS_ERR_CONNECTION_RESET);
  }

  #leave(place: number, status: UcsStatus): void {
    const lease = this.#leases[place];
    const { completion, onRead } = this.#afterwards[place];
    this.#leases[place] = undefined;
    this.#afterwards[place] = NOTHING;
    if (status === UcsStatus.UCS_OK && lease !== undefined) onRead?.(lease.bytes);
    lease?.release();
    this.#list.leave(place);
    completion?.onComplete(status);
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
