import { SendFlags, WcStatus } from '../../../device/ibta/index.js';
import { type Cq, type Qp, VerbsError } from '../../../api/verbs/index.js';
import type { Lease } from '../memory/buffer-pool.js';
import type { Engine } from './engine.js';
import type { Requests, SendHandler } from './requests.js';

const UNSIGNALED = 0;
const NOTHING = new Uint8Array(0);

/** Learns how requests of a {@link SendQueue} ended, oldest first. The slot of a request is free by then; its lease is released afterwards. */
export interface SendListener<T> {
  /** A request succeeded. @param kept what {@link SendQueue.begin} was given */
  onDone(kept: T | undefined, lease: Lease | undefined): void;

  /**
   * A request failed.
   *
   * @param cq the failed completion; undefined when the request was lost with its queue pair or its device
   */
  onFailed(kept: T | undefined, lease: Lease | undefined, cq: Cq | undefined): void;

  /** Nothing can be posted any more: the device is gone. Requests in flight are reported to {@link onFailed}. */
  onRefused(error: VerbsError): void;
}

/**
 * The send queue of one queue pair. Each request takes a slot, and keeps a value and a lease of the pool there until it ends. Requests that
 * one pass over the completion queue begins are posted as one list, with one doorbell.
 *
 * A request whose completion is not awaited may be unsignaled. A signaled one makes its responder acknowledge it, which costs both ends a system call.
 */
export class SendQueue<T> implements SendHandler {
  readonly #requests: Requests;
  readonly #kept: (T | undefined)[];
  readonly #leases: (Lease | undefined)[];
  readonly #free: number[];
  readonly #post = (): void => this.post();
  /** The longest run of unsignaled requests; also the number of slots that only signaled requests take. */
  readonly #most: number;
  /** Requests since the last signaled one. */
  #unsignaled = 0;
  /** A list is begun, and not posted yet. */
  #isOpen = false;
  #isPostDue = false;
  #hasEnded = false;

  /**
   * @param depth requests that may be in flight
   * @param owner named in messages about leaks
   */
  constructor(
    private readonly engine: Engine,
    private readonly qp: Qp,
    private readonly depth: number,
    private readonly listener: SendListener<T>,
    private readonly owner: string,
  ) {
    this.#requests = engine.sends(this, depth, owner);
    this.#most = depth >> 2;
    this.#kept = Array.from({ length: depth }, () => undefined);
    this.#leases = Array.from({ length: depth }, () => undefined);
    this.#free = Array.from({ length: depth }, (_, slot) => depth - 1 - slot);
  }

  /** The same, of a queue pair that has no other owner: where there is no room, it is destroyed. @throws VerbsError as `Engine.sends` */
  static owning<T>(engine: Engine, qp: Qp, depth: number, listener: SendListener<T>, owner: string): SendQueue<T> {
    try {
      return new SendQueue(engine, qp, depth, listener, owner);
    } catch (error) {
      qp[Symbol.dispose]();
      throw error;
    }
  }

  get room(): number {
    return this.#free.length;
  }

  get nextSlot(): number {
    return this.#free[this.#free.length - 1];
  }

  /** Whether no request is in flight. */
  get isEmpty(): boolean {
    return this.#free.length === this.depth;
  }

  /** Whether the newest request is unsignaled. Never true while the queue is full. */
  get endsUnsignaled(): boolean {
    return this.#unsignaled > 0;
  }

  /** The kept value of each request in flight that has one. */
  *kept(): Generator<T> {
    for (const kept of this.#kept) if (kept !== undefined) yield kept;
  }

  /** A buffer of the pool. @returns undefined while it has none, or when the device is gone, of which the listener is notified */
  lease(bytes: number): Lease | undefined {
    try {
      return this.engine.pool.tryLease(bytes, this.owner);
    } catch (error) {
      this.#refused(error);
      return undefined;
    }
  }

  /**
   * Begins a request. The caller describes it to the queue pair that this returns, then calls {@link end} or {@link post}. There must be {@link room}.
   *
   * @param isAwaited whether the request must be signaled
   * @returns undefined when the device is gone: the listener was notified, and the lease released
   */
  begin(kept?: T, lease?: Lease, isAwaited = kept !== undefined || lease !== undefined): Qp | undefined {
    const { qp } = this;
    const { length: room } = this.#free;
    const slot = this.nextSlot;
    try {
      if (!this.#isOpen) qp.wrStart();
      this.#isOpen = true;
      qp.wrId = this.#requests.expect(slot);
    } catch (error) {
      lease?.release();
      this.#refused(error);
      return undefined;
    }
    const isSignaled = isAwaited || this.#unsignaled >= this.#most || room <= this.#most;
    this.#unsignaled = isSignaled ? 0 : this.#unsignaled + 1;
    qp.wrFlags = isSignaled ? SendFlags.SIGNALED : UNSIGNALED;
    this.#free.pop();
    this.#kept[slot] = kept;
    this.#leases[slot] = lease;
    return qp;
  }

  /** Begins a zero-length RDMA WRITE. Its acknowledgement covers all requests before it. @returns as {@link begin} */
  beginProbe(kept?: T): Qp | undefined {
    const qp = this.begin(kept, undefined, true);
    // The responder checks no key where nothing is written (protocol/reliable.md 2.8).
    qp?.wrRdmaWrite(0, 0n);
    qp?.wrSetInlineData(NOTHING);
    return qp;
  }

  /** Posts the open list now, or at the end of the current pass. */
  end(): void {
    if (this.#isPostDue) return;
    this.#isPostDue = true;
    this.engine.afterPass(this.#post);
  }

  /** Posts the open list at once. */
  post(): void {
    this.#isPostDue = false;
    if (!this.#isOpen || this.#hasEnded) return;
    this.#isOpen = false;
    try {
      this.qp.wrComplete();
    } catch (error) {
      // The engine reports the requests of the list when the device is lost, or the queue pair has ended.
      this.#refused(error);
    }
  }

  /** The queue pair was destroyed: the requests in flight have failed. Idempotent. */
  destroyed(): void {
    this.#hasEnded = true;
    this.#requests.end();
  }

  onDone(slot: number): void {
    const kept = this.#kept[slot];
    const lease = this.#leave(slot);
    this.listener.onDone(kept, lease);
    lease?.release();
  }

  onCompletion(slot: number, cq: Cq): void {
    if (cq.status === WcStatus.SUCCESS) this.onDone(slot);
    else this.#fail(slot, cq);
  }

  onLost(slot: number): void {
    this.#fail(slot, undefined);
  }

  #fail(slot: number, cq: Cq | undefined): void {
    const kept = this.#kept[slot];
    const lease = this.#leave(slot);
    this.listener.onFailed(kept, lease, cq);
    lease?.release();
  }

  #leave(slot: number): Lease | undefined {
    const lease = this.#leases[slot];
    this.#kept[slot] = undefined;
    this.#leases[slot] = undefined;
    this.#free.push(slot);
    return lease;
  }

  #refused(error: unknown): void {
    if (!(error instanceof VerbsError)) throw error;
    this.listener.onRefused(error);
  }
}
