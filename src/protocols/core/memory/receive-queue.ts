import { WcStatus } from '../../../device/ibta/index.js';
import { type Cq, type Qp, type Srq, VerbsError } from '../../../api/verbs/index.js';
import type { Engine } from '../progress/engine.js';
import type { CompletionHandler, Requests } from '../progress/requests.js';
import type { Lease } from './buffer-pool.js';

/** Bytes of a buffer that is left for messages to send. */
const SPARE_BYTES = 4096;

const NO_BUFFER: Lease = {
  bytes: new Uint8Array(0),
  addr: 0,
  lkey: 0,
  capacity: 0,
  release: () => undefined,
  [Symbol.dispose]: () => undefined,
};

export interface Receiver {
  /**
   * A message has come.
   *
   * @param slot gives the buffer back, by {@link ReceiveQueue.giveBack}, once it was read: soon, or others find none
   * @param bytes the buffer; the message is `cq.byteLen` bytes at its beginning
   * @param cq stands at the completion, as in `CompletionHandler.onCompletion`
   */
  onMessage(slot: number, bytes: Uint8Array, cq: Cq): void;

  /** A receive has failed, or was flushed with its queue pair; its buffer is free. */
  onReceiveError(cq: Cq): void;

  /** A buffer cannot be posted again: the device is gone, or full. */
  onReceiveRefused(error: VerbsError): void;

  /** The device is lost: a posted receive will not complete. Not called once the queue was ended. */
  onReceiveLost?(): void;
}

/** Options of a {@link ReceiveQueue}. */
export interface ReceiveQueueOptions {
  /** Bytes of a buffer; 0 for receives that take immediate data only. */
  readonly bytes: number;
  /** Named in messages about leaks. */
  readonly owner: string;
  /** Buffers that {@link ReceiveQueue.deepenNow} and {@link ReceiveQueue.widen} leave in the pool, so that others can send. Default 0. */
  readonly spare?: number;
}

/**
 * Keeps the receive queue of one queue pair, or a shared one, filled with buffers of the pool. {@link giveBack} posts a buffer again.
 * While the pool has no buffer, the queue waits its turn.
 */
export class ReceiveQueue implements CompletionHandler {
  readonly #requests: Requests;
  readonly #leases: (Lease | undefined)[] = [];
  readonly #free: number[] = [];
  #depth = 0;
  #posted = 0;
  #stopWaiting: (() => void) | undefined;
  #hasEnded = false;

  /** @throws VerbsError EIO when the device was lost */
  constructor(
    private readonly engine: Engine,
    private readonly queue: Pick<Qp | Srq, 'postRecvSge'>,
    private readonly receiver: Receiver,
    private readonly options: ReceiveQueueOptions,
  ) {
    this.#requests = engine.requests(this, 0, options.owner);
  }

  get posted(): number {
    return this.#posted;
  }

  get depth(): number {
    return this.#depth;
  }

  /**
   * Raises the number of buffers. While the pool has none, fewer are posted. The queue must have room for them.
   *
   * @throws VerbsError ENOMEM when the completion queue has no room; as `postRecvSge`
   */
  deepen(depth: number): void {
    if (depth <= this.#depth) return;
    this.#requests.resize(depth);
    for (let slot = depth - 1; slot >= this.#depth; slot -= 1) this.#free.push(slot);
    this.#depth = depth;
    this.#fill();
  }

  /**
   * As {@link deepen}, for a peer that may send at once.
   *
   * @throws VerbsError ENOMEM when the pool has not so many, or no spare ones; otherwise as {@link deepen}
   */
  deepenNow(depth: number): void {
    const { pool } = this.engine;
    const { owner } = this.options;
    this.deepen(depth);
    if (this.#free.length === 0 && this.#leavesSpare()) return;
    const message = `no buffers are left for another connection: ${pool.leased} are lent`;
    const advice = 'Close connections, or give peers smaller windows';
    throw new VerbsError(owner, { errno: 'ENOMEM', message, advice });
  }

  /** Adds buffers while the pool and the completion queue have room for them. @returns how many @throws VerbsError as `postRecvSge` */
  widen(count: number): number {
    const { bytes, owner } = this.options;
    let added = 0;
    for (; added < count; added += 1) {
      const lease = this.engine.pool.tryLease(bytes, owner);
      if (lease === undefined) break;
      if (!this.#leavesSpare()) {
        lease.release();
        break;
      }
      try {
        this.#requests.resize(this.#depth + 1);
      } catch (error) {
        lease.release();
        if (error instanceof VerbsError && error.errno === 'ENOMEM') break;
        throw error;
      }
      this.#free.push(this.#depth);
      this.#depth += 1;
      this.#use(lease);
    }
    return added;
  }

  /** The bytes of a message have been read: posts its buffer again. @returns false when that was refused, or the queue has ended */
  giveBack(slot: number): boolean {
    if (this.#hasEnded) {
      this.release(slot);
      return false;
    }
    return this.#unlessRefused(() => {
      this.#post(slot);
      if (this.#free.length > 0) this.#fill();
    });
  }

  /** Gives a buffer back to the pool; it is not posted again. */
  release(slot: number): void {
    this.#leases[slot]?.release();
    this.#leases[slot] = undefined;
  }

  /** The queue was destroyed: its buffers go back to the pool, those with a reader when they are given back. Idempotent. */
  end(): void {
    this.#hasEnded = true;
    this.#stopWaiting?.();
    this.#requests.end();
  }

  onCompletion(slot: number, cq: Cq): void {
    this.#posted -= 1;
    const lease = this.#leases[slot];
    if (cq.status === WcStatus.SUCCESS && lease !== undefined) {
      this.receiver.onMessage(slot, lease.bytes, cq);
      return;
    }
    this.release(slot);
    // Not filled at once: the queue of a queue pair in ERR would flush that as well, and so on for ever.
    this.#free.push(slot);
    this.receiver.onReceiveError(cq);
  }

  onLost(slot: number): void {
    this.#posted -= 1;
    this.release(slot);
    // An end that could not be made ends its queue within its constructor, where it cannot take calls yet.
    if (!this.#hasEnded) this.receiver.onReceiveLost?.();
  }

  /** Fills what is empty, as far as the pool goes. */
  #fill(): void {
    const { pool } = this.engine;
    const { bytes, owner } = this.options;
    while (this.#free.length > 0 && !this.#hasEnded) {
      const lease = bytes === 0 ? NO_BUFFER : pool.tryLease(bytes, owner);
      if (lease === undefined) {
        this.#stopWaiting ??= pool.whenFree(bytes, owner, (later) => {
          this.#stopWaiting = undefined;
          this.#unlessRefused(() => {
            this.#use(later);
            if (this.engine.failure === undefined) this.#fill();
          });
        });
        return;
      }
      this.#use(lease);
    }
  }

  /** Whether the pool has the buffers that must be left. */
  #leavesSpare(): boolean {
    const { owner, bytes, spare = 0 } = this.options;
    const left: Lease[] = [];
    while (left.length < spare) {
      const lease = this.engine.pool.tryLease(Math.max(SPARE_BYTES, bytes), owner);
      if (lease === undefined) break;
      left.push(lease);
    }
    for (const lease of left) lease.release();
    return left.length === spare;
  }

  /** @returns false when the device has refused it, which the receiver is told */
  #unlessRefused(post: () => void): boolean {
    try {
      post();
      return true;
    } catch (error) {
      if (!(error instanceof VerbsError)) throw error;
      this.receiver.onReceiveRefused(error);
      return false;
    }
  }

  #use(lease: Lease): void {
    const slot = this.engine.failure === undefined ? this.#free.pop() : undefined;
    if (slot === undefined) {
      lease.release();
      return;
    }
    this.#leases[slot] = lease;
    this.#post(slot);
  }

  #post(slot: number): void {
    const lease = this.#leases[slot];
    if (lease === undefined) return;
    const wrId = this.#requests.expect(slot);
    try {
      this.queue.postRecvSge(wrId, lease.lkey, lease.addr, this.options.bytes);
      this.#posted += 1;
    } catch (error) {
      this.#requests.forget(wrId);
      this.release(slot);
      throw error;
    }
  }
}
