import { assert } from '../../../device/ibta/index.js';

/** Stands for no number. */
const NONE = -1;

/** Whose a number can be: keeps the first of a list of them. */
export interface NumberOwner {
  /** The number that it was given last, of those it has, or -1. */
  newest: number;
}

/**
 * Numbers for requests that are under way, which are their wr_id: columns of a table, so that a request is no object. Each owner has
 * a list of its own through them, so that what is left of one is found without a look at those of all others.
 */
export class RequestTable<Owner extends NumberOwner> {
  #owners: (Owner | undefined)[];
  #cookies: Int32Array;
  /** The next older number of the same owner; of a free one the next that is free. */
  #older: Int32Array;
  #newer: Int32Array;
  #free = NONE;

  constructor(size: number) {
    this.#owners = [];
    this.#cookies = new Int32Array(0);
    this.#older = new Int32Array(0);
    this.#newer = new Int32Array(0);
    this.grow(size);
  }

  get size(): number {
    return this.#owners.length;
  }

  grow(size: number): void {
    const before = this.size;
    if (size <= before) return;
    this.#cookies = longer(this.#cookies, size);
    this.#older = longer(this.#older, size);
    this.#newer = longer(this.#newer, size);
    // Lowest first, since what is in use then lies close together.
    for (let number = before; number < size; number += 1) {
      this.#owners.push(undefined);
      this.#older[number] = number + 1 < size ? number + 1 : this.#free;
    }
    this.#free = before;
  }

  take(owner: Owner, cookie: number): number {
    const number = this.#free;
    assert(number !== NONE, 'more requests under way than there is room for');
    this.#free = this.#older[number];
    const { newest } = owner;
    this.#owners[number] = owner;
    this.#cookies[number] = cookie;
    this.#older[number] = newest;
    this.#newer[number] = NONE;
    if (newest !== NONE) this.#newer[newest] = number;
    owner.newest = number;
    return number;
  }

  /** Whose it is; undefined for a number that is nobody's, or none at all. */
  ownerOf(number: number): Owner | undefined {
    return number < this.#owners.length ? this.#owners[number] : undefined;
  }

  cookieOf(number: number): number {
    return this.#cookies[number];
  }

  /** The oldest number of the same owner as this one, which may be this one. */
  oldestWith(number: number): number {
    let oldest = number;
    for (let older = this.#older[oldest]; older !== NONE; older = this.#older[oldest]) oldest = older;
    return oldest;
  }

  /** The number that the owner of this one was given next; -1 for none. */
  nextAfter(number: number): number {
    return this.#newer[number];
  }

  /** Takes a number from its owner, and makes it anybody's. */
  give(number: number, owner: Owner): void {
    const older = this.#older[number];
    const newer = this.#newer[number];
    if (newer === NONE) owner.newest = older;
    else this.#older[newer] = older;
    if (older !== NONE) this.#newer[older] = newer;
    this.#owners[number] = undefined;
    this.#older[number] = this.#free;
    this.#free = number;
  }

  /** Takes the newest number of an owner from it, and keeps it from everybody until {@link release}; -1 when it has none. */
  withhold(owner: Owner): number {
    const number = owner.newest;
    if (number === NONE) return NONE;
    owner.newest = this.#older[number];
    if (owner.newest !== NONE) this.#newer[owner.newest] = NONE;
    this.#owners[number] = undefined;
    return number;
  }

  /** Makes a number that was withheld anybody's. */
  release(number: number): void {
    this.#older[number] = this.#free;
    this.#free = number;
  }
}

function longer(column: Int32Array, size: number): Int32Array {
  const copy = new Int32Array(size);
  copy.set(column);
  return copy;
}
