import type { SeededRandom } from '../../src/device/link/index.js';
import type { Completion, DriverQueue, ReceiveRequest } from '../../src/device/nic/test/rings.js';
import type { Connection } from './endpoint.js';
import { check } from './failure.js';
import type { LimitWatch } from './limit-watch.js';
import type { Space, Stretch } from './space.js';

/** wr_ids of receives lie above those of sends, whose upper half is random but for this bit. */
const FIRST_WR_ID = 1n << 63n;

/** A receive request that is not complete, and its memory. */
export interface Posted {
  readonly wrId: bigint;
  readonly space: Space;
  readonly stretch: Stretch;
}

export interface ReceiveQueue {
  readonly queue: DriverQueue;
  /** One for all requests of a queue that completes them in order, otherwise one for each request. */
  readonly spaces: readonly Space[];
  readonly maxWr: number;
  readonly maxSge: number;
  /** Bytes of each request. */
  readonly bytes: number;
  readonly shared?: { readonly srqn: number; readonly limit: LimitWatch };
  /** Whether all requests complete in one CQ, so that the order of all of them is seen. */
  readonly oneCq: boolean;
  post(request: ReceiveRequest): void;
}

/** The receive requests of one queue: they are taken in the order in which they were posted. */
export class ReceivePool {
  /** Connections that take from it: each has at most one request that is not complete. */
  readonly connections: Connection[] = [];
  #closed = false;
  #posted: Posted[] = [];
  #nextWrId: bigint;
  readonly #firstWrId: bigint;
  /** The last request that each QP has completed. */
  readonly #lastOfQp = new Map<number, bigint>();

  constructor(
    readonly to: ReceiveQueue,
    private readonly random: SeededRandom,
  ) {
    this.#firstWrId = FIRST_WR_ID | (BigInt(to.shared?.srqn ?? 0) << 32n);
    this.#nextWrId = this.#firstWrId;
  }

  /** Whether a wr_id is of a request that was posted here. */
  owns(wrId: bigint): boolean {
    return wrId >= this.#firstWrId && wrId < this.#nextWrId;
  }

  get srqn(): number | undefined {
    return this.to.shared?.srqn;
  }

  /** Posts some receive requests. @returns whether it did */
  work(): boolean {
    const { random, to } = this;
    if (this.#closed) return false;
    to.shared?.limit.check(this.#taken);
    let posted = 0;
    const wanted = random.between(0, to.maxWr);
    while (posted < wanted && to.queue.room > 0 && this.#posted.length < to.maxWr) {
      const place = this.#place();
      if (place === undefined) break;
      const wrId = this.#nextWrId++;
      to.post({ wrId, sgList: place.space.sges(place.stretch) });
      this.#posted.push({ wrId, ...place });
      posted += 1;
    }
    to.shared?.limit.work(random, to.maxWr, this.#taken);
    return posted > 0;
  }

  /** A connection of a queue that is not shared is in error. */
  close(): void {
    if (this.to.shared === undefined) this.#closed = true;
  }

  complete(where: string, { wrId, qpNum }: Completion): Posted {
    const index = this.#posted.findIndex((posted) => posted.wrId === wrId);
    check(index >= 0, () => `${where}: completion ${String(wrId)} of nothing that was posted`);
    check(
      index < this.connections.length || !this.to.oneCq,
      () => `${where}: completion ${String(wrId)} though ${String(index)} older requests are open`,
    );
    const last = this.#lastOfQp.get(qpNum) ?? 0n;
    check(last < wrId, () => `${where}: completion ${String(wrId)} after ${String(last)}`);
    this.#lastOfQp.set(qpNum, wrId);
    return this.#posted.splice(index, 1)[0];
  }

  /** At the end of the run: nothing changed but what was received, and up to `touched` requests that were taken. */
  checkMemory(name: string, touched: number): void {
    const { to } = this;
    const held = this.#posted.length - to.queue.inUse;
    check(held >= 0 && held <= this.connections.length, () => `${String(held)} requests of ${name} are taken`);
    for (const { space, stretch } of this.#posted.slice(0, touched))
      space.expect(stretch, space.gather(stretch, to.bytes));
    for (const space of to.spaces) {
      const at = space.firstDifference();
      check(at < 0, () => `receive memory of ${name} was touched at offset ${String(at)}`);
    }
    to.shared?.limit.check(this.#taken);
  }

  /** Requests that are not complete. */
  get open(): number {
    return this.#posted.length;
  }

  get #taken(): number {
    return Number(this.#nextWrId - this.#firstWrId) - this.to.queue.inUse;
  }

  #place(): Pick<Posted, 'space' | 'stretch'> | undefined {
    const { random, to } = this;
    const space =
      to.spaces.length === 1
        ? to.spaces[0]
        : to.spaces.find((candidate) => !this.#posted.some((posted) => posted.space === candidate));
    const stretch = space?.take(random, to.bytes, to.maxSge);
    return space && stretch && { space, stretch };
  }
}

export function isReceive(wrId: bigint): boolean {
  return wrId >= FIRST_WR_ID;
}
