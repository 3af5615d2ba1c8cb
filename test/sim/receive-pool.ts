import type { SeededRandom } from '../../src/link/index.js';
import type { DriverQueue, ReceiveRequest } from '../nic/rings.js';
import { check } from './failure.js';
import type { Space, Stretch } from './space.js';

/** wr_ids of receives lie above those of sends, whose upper half is random but for this bit. */
const FIRST_WR_ID = 1n << 63n;

interface Posted {
  readonly wrId: bigint;
  readonly stretch: Stretch;
  completed: boolean;
}

/** What receive requests are posted to. */
export interface ReceiveQueue {
  readonly queue: DriverQueue;
  readonly space: Space;
  readonly maxWr: number;
  readonly maxSge: number;
  /** Bytes of each request. */
  readonly bytes: number;
  post(request: ReceiveRequest): void;
}

/** The receive requests of one queue: they are taken in the order in which they were posted. */
export class ReceivePool {
  /** Nothing more is posted. */
  closed = false;
  /** QPs that take from it: each has at most one request that is not complete. */
  users = 0;
  /** Requests that are not complete, and complete ones after them. */
  #posted: Posted[] = [];
  #nextWrId = FIRST_WR_ID;
  #open = 0;

  constructor(
    readonly to: ReceiveQueue,
    private readonly random: SeededRandom,
  ) {}

  get space(): Space {
    return this.to.space;
  }

  /** Posts some receive requests. @returns whether it did */
  work(): boolean {
    const { random, to } = this;
    if (this.closed) return false;
    let posted = 0;
    const wanted = random.between(0, to.maxWr);
    while (posted < wanted && to.queue.room > 0 && this.#open < to.maxWr) {
      const stretch = to.space.take(random, to.bytes, to.maxSge);
      if (stretch === undefined) break;
      const wrId = this.#nextWrId++;
      to.post({ wrId, sgList: to.space.sges(stretch) });
      this.#posted.push({ wrId, stretch, completed: false });
      this.#open += 1;
      posted += 1;
    }
    return posted > 0;
  }

  /** Takes note that a request is complete. @returns its memory, which is used again after {@link release} */
  complete(where: string, wrId: bigint): Stretch {
    const index = this.#posted.findIndex((posted) => posted.wrId === wrId && !posted.completed);
    check(index >= 0, () => `${where}: completion ${String(wrId)} of nothing that was posted`);
    const older = this.#posted.slice(0, index).filter(({ completed }) => !completed);
    check(
      older.length < this.users,
      () => `${where}: completion ${String(wrId)} before ${older.map((posted) => String(posted.wrId)).join(', ')}`,
    );
    this.#posted[index].completed = true;
    this.#open -= 1;
    return this.#posted[index].stretch;
  }

  /** Gives the memory of complete requests back. */
  release(): void {
    while (this.#posted.length > 0 && this.#posted[0].completed) {
      this.space.release(this.#posted[0].stretch);
      this.#posted.shift();
    }
  }

  /** At the end of the run: nothing changed but what was received, and the oldest `touched` of the open requests. */
  checkMemory(name: string, touched: number): void {
    const { space, to } = this;
    const open = this.#posted.filter(({ completed }) => !completed);
    for (const { stretch } of open.slice(0, touched)) space.expect(stretch, space.gather(stretch, to.bytes));
    const at = space.firstDifference();
    check(at < 0, () => `receive memory of ${name} was touched at offset ${String(at)}`);
  }
}

/** Whether a wr_id is of a receive. */
export function isReceive(wrId: bigint): boolean {
  return wrId >= FIRST_WR_ID;
}
