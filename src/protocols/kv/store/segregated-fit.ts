import type { EntryAllocator } from './span.js';

// A block is a header of 8 bytes, how long it is and how long the one before it, and what it holds. Lengths and places are in units of 8 bytes. A free block holds
// the places of the next and the previous one of its class.
const UNIT = 8;
const HEADER_UNITS = 1;
const FREE = 1 << 31;
const NONE = -1;

/** Classes of lengths: each length below 16, then 8 for each power of two. */
const FINE = 16;
const CLASSES = 256;
/** Blocks of a class that may be too short are looked at, so many, when no longer class has any. */
const MOST_TRIES = 16;

/** The class of a block of so many units; all blocks of a higher class are longer. */
function classOf(units: number): number {
  if (units < FINE) return units;
  const shift = 28 - Math.clz32(units);
  return shift * 8 + (units >>> shift);
}

/** The least class whose blocks all have so many units. */
function sureClassOf(units: number): number {
  return classOf(units - 1) + 1;
}

/**
 * Free lists by length, as MICA's store mode has them: an entry goes into a block that is a little longer at most, what is left of that is a block again, and free
 * neighbours become one. So each call takes the same few steps, and entries stay where they are.
 */
export class SegregatedFit implements EntryAllocator {
  readonly #words: Int32Array;
  /** The first free block of each class. */
  readonly #lists = new Int32Array(CLASSES).fill(NONE);
  /** Which classes have one, a bit each. */
  readonly #bits = new Int32Array(CLASSES / 32);
  readonly #leastUnits: number;

  /**
   * @param memory at an address that is a multiple of 8
   * @param leastBytes the shortest entry
   */
  constructor(memory: Uint8Array, leastBytes: number) {
    this.#words = new Int32Array(memory.buffer, memory.byteOffset, memory.byteLength >> 2);
    this.#leastUnits = HEADER_UNITS + leastBytes / UNIT;
    // The last header is of a block without anything, never free: nobody looks beyond it.
    const units = Math.floor(memory.byteLength / UNIT) - HEADER_UNITS;
    this.#words[1] = 0;
    this.#setLength(units, 0);
    this.#give(0, units);
  }

  reserve(byteLength: number): number {
    const wanted = HEADER_UNITS + byteLength / UNIT;
    const block = this.#find(wanted);
    if (block === NONE) return -1;
    const length = this.#take(block);
    const rest = length - wanted;
    if (rest < this.#leastUnits) this.#setLength(block, length);
    else {
      this.#setLength(block, wanted);
      this.#give(block + wanted, rest);
    }
    return (block + HEADER_UNITS) * UNIT;
  }

  release(position: number): void {
    let block = position / UNIT - HEADER_UNITS;
    let length = this.#lengthOf(block);
    const behind = block + length;
    if (this.#isFree(behind)) length += this.#take(behind);
    const before = block - this.#words[2 * block + 1];
    if (before < block && this.#isFree(before)) {
      block = before;
      length += this.#take(before);
    }
    this.#give(block, length);
  }

  fits(position: number, _before: number, after: number): boolean {
    const rest = this.#lengthOf(position / UNIT - HEADER_UNITS) - HEADER_UNITS - after / UNIT;
    return rest >= 0 && rest < this.#leastUnits;
  }

  #lengthOf(block: number): number {
    return this.#words[2 * block] & ~FREE;
  }

  #isFree(block: number): boolean {
    return (this.#words[2 * block] & FREE) !== 0;
  }

  /** Of a block in use; the one behind it knows as well. */
  #setLength(block: number, units: number): void {
    this.#words[2 * block] = units;
    if (units > 0) this.#words[2 * (block + units) + 1] = units;
  }

  #find(units: number): number {
    const least = sureClassOf(units);
    let word = least >> 5;
    let bits = this.#bits[word] & (-1 << (least & 31));
    while (bits === 0 && word < this.#bits.length - 1) bits = this.#bits[(word += 1)];
    if (bits !== 0) return this.#lists[word * 32 + 31 - Math.clz32(bits & -bits)];
    let block = this.#lists[classOf(units)];
    for (let i = 0; i < MOST_TRIES && block !== NONE; i += 1) {
      if (this.#lengthOf(block) >= units) return block;
      block = this.#words[2 * block + 2];
    }
    return NONE;
  }

  #give(block: number, units: number): void {
    const kind = classOf(units);
    const next = this.#lists[kind];
    this.#setLength(block, units);
    this.#words[2 * block] |= FREE;
    this.#words[2 * block + 2] = next;
    this.#words[2 * block + 3] = NONE;
    if (next !== NONE) this.#words[2 * next + 3] = block;
    this.#lists[kind] = block;
    this.#bits[kind >> 5] |= 1 << (kind & 31);
  }

  /** Takes a free block from its list. @returns its length */
  #take(block: number): number {
    const length = this.#lengthOf(block);
    const next = this.#words[2 * block + 2];
    const previous = this.#words[2 * block + 3];
    if (next !== NONE) this.#words[2 * next + 3] = previous;
    if (previous !== NONE) this.#words[2 * previous + 2] = next;
    else {
      const kind = classOf(length);
      this.#lists[kind] = next;
      if (next === NONE) this.#bits[kind >> 5] &= ~(1 << (kind & 31));
    }
    return length;
  }
}
