import { WcStatus } from '../../../device/ibta/index.js';
import { type Cq, type Qp, VerbsError } from '../../../api/verbs/index.js';
import type { CompletionHandler, Engine, Lease, Requests } from '../../core/index.js';
import { INLINE_BYTES, OWNER } from './link.js';

/** Memory that a request names. */
type Place = Pick<Lease, 'bytes' | 'addr' | 'lkey'>;

/** Is told what became of what was sent. */
export interface SendListener<T> {
  /** A message is under way no more, whatever became of it. @param isDone whether it did what it was to do */
  onLeft(to: T, isDone: boolean): void;
  /** One has completed. @param cq stands at the completion */
  onSent(cq: Cq): void;
  /** Nothing could be posted. */
  onRefused(error: VerbsError): void;
}

/**
 * Sends messages by one queue pair: short ones inline, others from the pool. What handlers of one pass over the completion queue send is posted
 * as one list.
 */
export class SendList<T> implements CompletionHandler {
  readonly #requests: Requests;
  readonly #leases: (Lease | undefined)[];
  readonly #to: (T | undefined)[];
  readonly #wrIds: Float64Array;
  readonly #free: number[];
  /** Of the list that is not posted yet. */
  readonly #open: number[] = [];
  readonly #post = (): void => this.#complete();
  #hasEnded = false;

  /** @param describe says of a request, by the queue pair's builder, what it is and to whom it goes */
  constructor(
    private readonly engine: Engine,
    private readonly qp: Qp,
    depth: number,
    private readonly describe: (qp: Qp, to: T, bytes: Uint8Array) => void,
    private readonly listener: SendListener<T>,
  ) {
    this.#requests = engine.requests(this, depth, OWNER);
    this.#leases = Array.from({ length: depth }, () => undefined);
    this.#to = Array.from({ length: depth }, () => undefined);
    this.#wrIds = new Float64Array(depth);
    this.#free = Array.from({ length: depth }, (_, index) => index);
  }

  /** Messages that can be sent now. */
  get room(): number {
    return this.#free.length;
  }

  /** Sends a copy of a message. @returns false without {@link room} */
  send(bytes: Uint8Array, to: T): boolean {
    const index = this.#hasEnded ? undefined : this.#free[this.#free.length - 1];
    if (index === undefined) return false;
    const lease = bytes.length > INLINE_BYTES ? this.#lease(bytes.length) : undefined;
    if (bytes.length > INLINE_BYTES && lease === undefined) return false;
    lease?.bytes.set(bytes);
    if (this.#isAdded(index, bytes, to, lease)) {
      this.#leases[index] = lease;
      return true;
    }
    lease?.release();
    return false;
  }

  /** Posts a request for memory where it lies, which is the caller's. @returns false without {@link room} */
  post(place: Place, length: number, to: T): boolean {
    const index = this.#hasEnded ? undefined : this.#free[this.#free.length - 1];
    return index !== undefined && this.#isAdded(index, place.bytes.subarray(0, length), to, place);
  }

  /** The queue pair was destroyed. Idempotent. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#requests.end();
  }

  onCompletion(index: number, cq: Cq): void {
    this.#leave(index, cq.status === WcStatus.SUCCESS);
    this.listener.onSent(cq);
  }

  onLost(index: number): void {
    this.#leave(index, false);
  }

  #lease(bytes: number): Lease | undefined {
    try {
      return this.engine.pool.tryLease(bytes, OWNER);
    } catch (error) {
      // The device was lost.
      if (!(error instanceof VerbsError)) throw error;
      this.listener.onRefused(error);
      return undefined;
    }
  }

  #isAdded(index: number, bytes: Uint8Array, to: T, place: Place | undefined): boolean {
    try {
      this.#add(index, bytes, to, place);
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      this.listener.onRefused(error);
      return false;
    }
    this.#free.pop();
    this.#to[index] = to;
    this.#open.push(index);
    if (this.#open.length === 1) this.engine.afterPass(this.#post);
    return true;
  }

  #add(index: number, bytes: Uint8Array, to: T, place: Place | undefined): void {
    const { qp } = this;
    const wrId = this.#requests.expect(index);
    try {
      if (this.#open.length === 0) qp.wrStart();
    } catch (error) {
      this.#requests.forget(wrId);
      throw error;
    }
    this.#wrIds[index] = wrId;
    qp.wrId = wrId;
    this.describe(qp, to, bytes);
    if (place === undefined) qp.wrSetInlineData(bytes);
    else qp.wrSetSge(place.lkey, place.addr, bytes.length);
  }

  #complete(): void {
    // The list has ended with its queue pair.
    if (this.#hasEnded) return;
    try {
      this.qp.wrComplete();
      this.#open.length = 0;
    } catch (error) {
      for (const index of this.#open.splice(0)) {
        this.#requests.forget(this.#wrIds[index]);
        this.#leave(index, false);
      }
      if (!(error instanceof VerbsError)) throw error;
      this.listener.onRefused(error);
    }
  }

  #leave(index: number, isDone: boolean): void {
    this.#leases[index]?.release();
    this.#leases[index] = undefined;
    const to = this.#to[index];
    this.#to[index] = undefined;
    this.#free.push(index);
    if (to !== undefined) this.listener.onLeft(to, isDone);
  }
}
