import { SendFlags } from '../../../device/ibta/index.js';
import type { Qp } from '../../../api/verbs/index.js';
import type { Lease, Requests } from '../../core/index.js';

/** Whoever has posted requests, and is told what became of each. */
export interface Poster {
  /** One succeeded. What {@link Slot.lease} holds is to be taken before this returns. */
  onDone(slot: Slot): void;
  /** One did not, or will never complete. */
  onFailed(slot: Slot, error: Error): void;
  /** The connection has ended. Adapters may still work on what is under way, until {@link onDone} or {@link onFailed}. */
  reject(error: Error): void;
}

/** A place in the send queue: one object for life. */
export class Slot {
  poster: Poster | undefined;
  /** What the request reads from, or writes to; it goes back when the request has completed. */
  lease: Lease | undefined;
  /** Which bytes of the poster's it is about. */
  offset = 0;
  byteLength = 0;

  constructor(readonly index: number) {}
}

/** The send queue of a connection: every request takes a slot until it has completed. */
export class SendSlots {
  readonly #slots: readonly Slot[];
  readonly #free: Slot[];
  #open: Slot | undefined;
  #openId = 0;

  constructor(
    private readonly qp: Qp,
    private readonly requests: Requests,
    count: number,
  ) {
    this.#slots = Array.from({ length: count }, (_, index) => new Slot(index));
    this.#free = [...this.#slots].reverse();
  }

  /** Requests that can be posted now. */
  get free(): number {
    return this.#free.length;
  }

  /** Requests that have not completed. */
  get busy(): number {
    return this.#slots.length - this.#free.length;
  }

  /** Who has requests that have not completed, each as often as it has. */
  *posters(): Generator<Poster> {
    for (const { poster } of this.#slots) if (poster !== undefined) yield poster;
  }

  /**
   * Begins a request: what it does, and on which memory, is then said to the queue pair that this returns, and {@link post} ends
   * it. There must be a free slot. When that fails, the lease is still the caller's.
   *
   * @throws VerbsError when the device is gone
   */
  begin(poster: Poster, lease: Lease | undefined, offset: number, byteLength: number): Qp {
    const slot = this.#free[this.#free.length - 1];
    const { qp } = this;
    qp.wrStart();
    this.#openId = this.requests.expect(slot.index);
    qp.wrId = this.#openId;
    qp.wrFlags = SendFlags.SIGNALED;
    slot.poster = poster;
    slot.lease = lease;
    slot.offset = offset;
    slot.byteLength = byteLength;
    this.#open = slot;
    return qp;
  }

  /** Posts what was begun. @throws VerbsError as `Qp.wrComplete`; then it was not posted, and the lease is the caller's again */
  post(): void {
    try {
      this.qp.wrComplete();
      this.#free.pop();
    } catch (error) {
      this.requests.forget(this.#openId);
      if (this.#open !== undefined) clear(this.#open);
      throw error;
    }
  }

  /** The request of a slot succeeded. */
  complete(index: number): void {
    const slot = this.#slots[index];
    const { poster } = slot;
    poster?.onDone(slot);
    this.#release(slot);
  }

  /** It did not. */
  fail(index: number, error: Error): void {
    const slot = this.#slots[index];
    const { poster } = slot;
    poster?.onFailed(slot, error);
    this.#release(slot);
  }

  #release(slot: Slot): void {
    slot.lease?.release();
    clear(slot);
    this.#free.push(slot);
  }
}

function clear(slot: Slot): void {
  slot.poster = undefined;
  slot.lease = undefined;
}
