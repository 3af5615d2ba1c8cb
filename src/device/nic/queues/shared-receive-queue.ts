import { EventType } from '../../ibta/index.js';
import { CommandError } from '../command-error.js';
import type { NicEvents } from '../nic-config.js';
import { recvQueueShape, RecvWqe, SgeWords } from '../rings/layout.js';
import type { CompletionQueue } from './completion-queue.js';
import type { WorkQueueWatcher } from './watchers.js';
import { nextCapacity, receiveSges, WorkQueue } from './work-queue.js';

export interface SharedReceiveQueueParts {
  readonly srqn: number;
  readonly pd: number;
  readonly maxWr: number;
  readonly maxSge: number;
  readonly memory: ArrayBufferLike;
  readonly limit: number;
  /** Domain and completion queue of one that XRC requests name; neither otherwise (protocol/services.md 3.3). */
  readonly xrcd: number | undefined;
  readonly cq: CompletionQueue | undefined;
}

/** Receive requests that several queue pairs take from, in the order in which they were posted (protocol/services.md 3.4). */
export class SharedReceiveQueue {
  readonly srqn: number;
  readonly pd: number;
  readonly maxSge: number;
  readonly xrcd: number | undefined;
  readonly cq: CompletionQueue | undefined;
  users = 0;
  destroyed = false;
  /** Its completion queue lost an entry: nothing can be received by it any more (protocol/services.md 3.11, SRQ_ERR). */
  failed = false;
  limit: number;

  #maxWr: number;
  #queue: WorkQueue;

  constructor(
    parts: SharedReceiveQueueParts,
    private readonly events: NicEvents,
  ) {
    this.srqn = parts.srqn;
    this.pd = parts.pd;
    this.maxSge = parts.maxSge;
    this.xrcd = parts.xrcd;
    this.cq = parts.cq;
    this.limit = parts.limit;
    this.#maxWr = parts.maxWr;
    this.#queue = new WorkQueue(parts.memory, recvQueueShape(parts.maxWr, parts.maxSge), parts.maxSge);
  }

  get entryWords(): number {
    return RecvWqe.DATA + this.maxSge * SgeWords.SIZE;
  }

  watch(watcher: WorkQueueWatcher): void {
    this.#queue.watcher = watcher;
  }

  get ready(): boolean {
    return this.#queue.has(this.#queue.head);
  }

  /** Bytes that the oldest request has room for, or -1 when there is none. */
  get nextCapacity(): number {
    return nextCapacity(this.#queue);
  }

  /**
   * Copies the oldest request to `target` and gives its slot back: the queue pair that takes it may fill it long after
   * others have completed later ones.
   *
   * @returns false when there is none
   */
  take(target: Int32Array): boolean {
    const queue = this.#queue;
    if (!queue.has(queue.head)) return false;
    const entry = queue.entry(queue.head);
    const words = RecvWqe.DATA + SgeWords.SIZE * receiveSges(queue.words, entry, this.maxSge);
    for (let i = 0; i < words; i += 1) target[i] = queue.words[entry + i];
    queue.retire((queue.head + 1) | 0);
    queue.publish();
    if (this.limit > 0 && queue.count < this.limit) {
      this.limit = 0;
      this.events.asyncEvent({ type: EventType.SRQ_LIMIT_REACHED, srqn: this.srqn });
    }
    return true;
  }

  /** Arms the limit event, or with 0 disarms it. */
  arm(limit: number): void {
    if (limit > this.#maxWr)
      throw new CommandError('EINVAL', `the limit is ${limit}, but the queue holds ${this.#maxWr} requests`);
    this.limit = limit;
  }

  /** Goes on in another ring, to which it copies what is posted. */
  resize(memory: ArrayBufferLike, maxWr: number): void {
    const posted = this.#queue.count;
    if (posted > maxWr)
      throw new CommandError('EINVAL', `${posted} requests are posted, more than the ${maxWr} that are to fit`);
    const next = new WorkQueue(memory, recvQueueShape(maxWr, this.maxSge), this.maxSge);
    next.adopt(this.#queue);
    next.watcher = this.#queue.watcher;
    this.#queue = next;
    this.#maxWr = maxWr;
  }
}
