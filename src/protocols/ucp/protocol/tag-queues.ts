import { isFull, type Tag, tagsMatch } from './tag.js';

/** A receive, which waits for the first message whose tag is its own in the bits of the mask. */
export interface Expected {
  readonly tag: Tag;
  readonly mask: Tag;
}

export interface Arrived {
  readonly tag: Tag;
}

const BUCKETS = 256;
const GOLDEN = 0x9e37_79b1;

function bucketOf({ high, low }: Tag): number {
  return Math.imul(high ^ Math.imul(low, GOLDEN), GOLDEN) >>> 24;
}

function buckets<T>(): T[][] {
  return Array.from({ length: BUCKETS }, () => []);
}

function remove<T>(from: T[], what: T): boolean {
  const at = from.indexOf(what);
  if (at >= 0) removeAt(from, at);
  return at >= 0;
}

/** Mostly the only one: `splice` makes an array of what it removes. */
function removeAt(from: unknown[], at: number): void {
  if (at === from.length - 1) from.pop();
  else from.splice(at, 1);
}

/**
 * Receives that no message has come for. Those that want one tag are found by it; the others, that want any of several, are looked at one after the other.
 * Whichever was posted first gets the message.
 */
export class ExpectedQueue<R extends Expected> {
  readonly #exact = buckets<Numbered<R>>();
  readonly #wild: Numbered<R>[] = [];
  #length = 0;
  #posted = 0;

  get length(): number {
    return this.#length;
  }

  add(receive: R): void {
    this.#queueOf(receive).push({ receive, number: this.#posted });
    this.#posted += 1;
    this.#length += 1;
  }

  /** @returns false for one that is not there */
  remove(receive: R): boolean {
    const queue = this.#queueOf(receive);
    const at = queue.findIndex((entry) => entry.receive === receive);
    if (at < 0) return false;
    this.#removeAt(queue, at);
    return true;
  }

  /** Takes all of them, in the order in which they were posted. */
  takeAll(): R[] {
    const queues = [...this.#exact, this.#wild];
    const all = queues.flat().sort((one, other) => one.number - other.number);
    for (const queue of queues) queue.length = 0;
    this.#length = 0;
    return all.map(({ receive }) => receive);
  }

  take(tag: Tag): R | undefined {
    const bucket = this.#exact[bucketOf(tag)];
    const exactAt = firstFor(bucket, tag);
    const wildAt = firstFor(this.#wild, tag);
    if (exactAt < 0 && wildAt < 0) return undefined;
    if (exactAt < 0 || (wildAt >= 0 && isYounger(bucket[exactAt], this.#wild[wildAt])))
      return this.#removeAt(this.#wild, wildAt);
    return this.#removeAt(bucket, exactAt);
  }

  #removeAt(queue: Numbered<R>[], at: number): R {
    const { receive } = queue[at];
    removeAt(queue, at);
    this.#length -= 1;
    return receive;
  }

  #queueOf({ tag, mask }: R): Numbered<R>[] {
    return isFull(mask) ? this.#exact[bucketOf(tag)] : this.#wild;
  }
}

interface Numbered<R> {
  readonly receive: R;
  /** How many were posted before. */
  readonly number: number;
}

/** Where the first is that wants a message; -1 for nowhere. */
function firstFor(queue: readonly Numbered<Expected>[], tag: Tag): number {
  for (let at = 0; at < queue.length; at += 1) {
    const { receive } = queue[at];
    if (tagsMatch(receive.tag, tag, receive.mask)) return at;
  }
  return -1;
}

function isYounger(exact: Numbered<unknown>, wild: Numbered<unknown>): boolean {
  return wild.number < exact.number;
}

/** Messages that no receive was posted for, in the order in which they came. */
export class UnexpectedQueue<M extends Arrived> {
  readonly #all = new Set<M>();
  readonly #byTag = buckets<M>();

  get length(): number {
    return this.#all.size;
  }

  add(message: M): void {
    this.#all.add(message);
    this.#byTag[bucketOf(message.tag)].push(message);
  }

  /** @returns false for one that is not there */
  remove(message: M): boolean {
    if (!this.#all.delete(message)) return false;
    return remove(this.#byTag[bucketOf(message.tag)], message);
  }

  /** The message that a receive would get, which stays. */
  find({ tag, mask }: Expected): M | undefined {
    if (this.#all.size === 0) return undefined;
    const among = isFull(mask) ? this.#byTag[bucketOf(tag)] : this.#all;
    for (const message of among) if (tagsMatch(message.tag, tag, mask)) return message;
    return undefined;
  }
}
