import { isFull, type Tag, tagsMatch } from './tag.js';

/** A receive, which waits for the first message whose tag is its own in the bits of the mask. */
export interface Expected {
  readonly tag: Tag;
  readonly mask: Tag;
}

/** A message that has come. */
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
  if (at >= 0) from.splice(at, 1);
  return at >= 0;
}

/**
 * Receives that no message has come for. Those that want one tag are found by it; the others, that want any of several, are looked at one after the other.
 * Whichever was posted first gets the message.
 */
export class ExpectedQueue<R extends Expected> {
  readonly #exact = buckets<Numbered<R>>();
  readonly #wild: Numbered<R>[] = [];
  readonly #entries = new Map<R, Numbered<R>>();
  #posted = 0;

  get length(): number {
    return this.#entries.size;
  }

  add(receive: R): void {
    const entry = { receive, number: this.#posted };
    this.#posted += 1;
    this.#entries.set(receive, entry);
    this.#queueOf(receive).push(entry);
  }

  /** @returns false for one that is not there */
  remove(receive: R): boolean {
    const entry = this.#entries.get(receive);
    if (entry === undefined) return false;
    this.#entries.delete(receive);
    return remove(this.#queueOf(receive), entry);
  }

  /** Takes all of them, in the order in which they were posted. */
  takeAll(): R[] {
    const all = [...this.#entries.keys()];
    for (const receive of all) this.remove(receive);
    return all;
  }

  /** Takes the receive that a message is for. */
  take(tag: Tag): R | undefined {
    const matches = ({ receive }: Numbered<R>): boolean => tagsMatch(receive.tag, tag, receive.mask);
    const exact = this.#exact[bucketOf(tag)].find(matches);
    const wild = this.#wild.find(matches);
    const first = exact === undefined || (wild !== undefined && wild.number < exact.number) ? wild : exact;
    if (first !== undefined) this.remove(first.receive);
    return first?.receive;
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
    const among = isFull(mask) ? this.#byTag[bucketOf(tag)] : this.#all;
    for (const message of among) if (tagsMatch(message.tag, tag, mask)) return message;
    return undefined;
  }
}
