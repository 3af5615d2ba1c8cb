import { assert } from '../../ibta/index.js';
import { CommandError } from '../command-error.js';
import type { QueuePair } from '../queue-pairs/queue-pair.js';
import type { CompChannel } from '../queues/comp-channel.js';
import type { CompletionCounter } from '../queues/completion-counter.js';
import type { CompletionQueue } from '../queues/completion-queue.js';
import type { SharedReceiveQueue } from '../queues/shared-receive-queue.js';

/** QPNs 0 and 1 are special, and rxe starts at 16 as well; the last is the multicast QPN. */
const FIRST_QPN = 16;
const LAST_QPN = 0xfffffe;

/**
 * Numbers that rest after their object has ended. A peer remembers a queue pair for the seconds of its timewait, and takes
 * a new one of that number for the old one (protocol/connections.md 4.4).
 */
const MAX_RESTING = 16384;

export class ObjectTable<T> {
  readonly #objects = new Map<number, T>();
  readonly #resting = new Set<number>();

  constructor(
    /** As errors name one: `CQ`. */
    private readonly kind: string,
    private readonly max: number,
  ) {}

  get size(): number {
    return this.#objects.size;
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  find(id: number): T | undefined {
    return this.#objects.get(id);
  }

  /** @throws CommandError EINVAL when there is none */
  get(id: number): T {
    const object = this.#objects.get(id);
    if (object === undefined) throw new CommandError('EINVAL', `there is no ${this.kind} 0x${id.toString(16)}`);
    return object;
  }

  /** @throws CommandError ENOMEM when there is no room for one more */
  requireRoom(): void {
    if (this.#objects.size >= this.max) throw new CommandError('ENOMEM', `no more than ${this.max} ${this.kind}s`);
  }

  add(id: number, object: T): void {
    assert(!this.#objects.has(id), 'two objects have one number');
    this.#objects.set(id, object);
  }

  remove(id: number): void {
    this.#objects.delete(id);
    this.#resting.add(id);
    if (this.#resting.size <= MAX_RESTING) return;
    const [oldest] = this.#resting;
    this.#resting.delete(oldest);
  }

  /** A number of 24 bits, not to be guessed, that no object has or had a moment ago. */
  freshNumber(random: () => number): number {
    for (;;) {
      const number = random() & 0xffffff;
      const taken = this.#objects.has(number) || this.#resting.has(number);
      if (number >= FIRST_QPN && number <= LAST_QPN && !taken) return number;
    }
  }
}

/** An object that others use, and that stays as long as they do. */
export interface Used {
  users: number;
}

export function leave(object: Used): void {
  assert(object.users > 0, 'an object is left that nobody uses');
  object.users -= 1;
}

/** An XRC domain: what target QPs and the shared receive queues that they may use have in common. */
export type XrcDomain = Used;

/** What was made on a NIC and not destroyed. Protection domains and memory have a table of their own. */
export interface NicObjects {
  readonly compCntrs: ObjectTable<CompletionCounter>;
  readonly channels: ObjectTable<CompChannel>;
  readonly cqs: ObjectTable<CompletionQueue>;
  readonly srqs: ObjectTable<SharedReceiveQueue>;
  readonly xrcds: ObjectTable<XrcDomain>;
  readonly qps: ObjectTable<QueuePair>;
  /** Those of {@link qps} that take Ethernet frames. */
  readonly rawQps: Set<QueuePair>;
}
