import { assert } from '../../../device/ibta/index.js';
import { Flag, rulesOf } from '../wire/index.js';
import type { Item } from './item.js';

/** From how many that are done with on the list is made shorter. */
const TIDY = 64;

/** What was sent and the peer has not acknowledged, by its numbers, which follow each other. */
export class KeptItems<I extends Item> {
  #items: I[] = [];
  /** How many at the beginning are done with. */
  #gone = 0;
  #lastSn = 0;

  get lastSn(): number {
    return this.#lastSn;
  }

  /** The peer has all up to this one. */
  get ackedSn(): number {
    return this.#lastSn - this.size;
  }

  get size(): number {
    return this.#items.length - this.#gone;
  }

  /** Whether any of it is a request or a message. */
  get hasCalls(): boolean {
    for (const { kind } of this) if (rulesOf(kind)?.isCall === true) return true;
    return false;
  }

  /** Whether the peer is to say at once that it has one. */
  get awaitsAcknowledgement(): boolean {
    for (const { flags } of this) if ((flags & Flag.ACKNOWLEDGE) !== 0) return true;
    return false;
  }

  /** Gives an item the next number, and keeps it. */
  add(item: I): void {
    this.#lastSn += 1;
    item.sn = this.#lastSn;
    this.#items.push(item);
  }

  at(sn: number): I {
    const item = this.#items.at(this.#gone + sn - this.ackedSn - 1);
    assert(item?.sn === sn, 'an item is kept under its number');
    return item;
  }

  /** Forgets the first, which the peer has. */
  shift(): I {
    const item = this.#items[this.#gone];
    this.#gone += 1;
    if (this.#gone >= TIDY && 2 * this.#gone >= this.#items.length) {
      this.#items = this.#items.slice(this.#gone);
      this.#gone = 0;
    }
    return item;
  }

  *[Symbol.iterator](): Generator<I> {
    for (let i = this.#gone; i < this.#items.length; i += 1) yield this.#items[i];
  }

  /** Forgets all, and begins with number 1 again. */
  clear(): I[] {
    const items = [...this];
    this.#items = [];
    this.#gone = 0;
    this.#lastSn = 0;
    return items;
  }
}
