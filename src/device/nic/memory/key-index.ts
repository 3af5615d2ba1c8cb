import { assert } from '../../ibta/index.js';
import { CommandError } from '../command-error.js';
import type { MemoryRegion } from './memory-region.js';
import type { MemoryWindow } from './memory-window.js';

/** Bits of a key below its index: the tag, which the owner of a window chooses (protocol/services.md 3.6, 3.7). */
const TAG_BITS = 8;
/** With half of all indexes in use, more than enough; without an end a source that repeats itself would hang the NIC. */
const MAX_DRAWS = 128;

/**
 * Finds regions and windows by their keys. A key is a capability, so all of it is unpredictable: 24 bits of index, which
 * no two living objects share, whatever the kind of key, and 8 bits of tag.
 */
export class KeyIndex {
  readonly #byLkey = new Map<number, MemoryRegion>();
  readonly #byRkey = new Map<number, MemoryRegion | MemoryWindow>();

  constructor(private readonly random: () => number) {}

  get size(): number {
    return this.#byLkey.size + this.#byRkey.size;
  }

  /** A key, as int32, that shares its index with none that is in use, nor with `other`. */
  fresh(other = 0): number {
    for (let draw = 0; draw < MAX_DRAWS; draw += 1) {
      const key = this.random() | 0;
      const index = key >>> TAG_BITS;
      // Key 0 stands for "none" in many programs, so nothing bears it.
      if (index !== 0 && index !== other >>> TAG_BITS && !this.#byLkey.has(index) && !this.#byRkey.has(index))
        return key;
    }
    throw new CommandError('ENOMEM', 'no free key was found');
  }

  add(owner: MemoryRegion | MemoryWindow): void {
    const index = owner.rkey >>> TAG_BITS;
    assert((this.#byRkey.get(index) ?? owner) === owner, 'two objects have one key');
    this.#byRkey.set(index, owner);
  }

  addRegion(region: MemoryRegion): void {
    this.#byLkey.set(region.lkey >>> TAG_BITS, region);
    this.add(region);
  }

  remove(owner: MemoryRegion | MemoryWindow): void {
    this.#byRkey.delete(owner.rkey >>> TAG_BITS);
  }

  removeRegion(region: MemoryRegion): void {
    this.#byLkey.delete(region.lkey >>> TAG_BITS);
    this.remove(region);
  }

  region(lkey: number): MemoryRegion | undefined {
    const region = this.#byLkey.get(lkey >>> TAG_BITS);
    return region?.lkey === lkey ? region : undefined;
  }

  owner(rkey: number): MemoryRegion | MemoryWindow | undefined {
    return this.#byRkey.get(rkey >>> TAG_BITS);
  }
}

/** Keys that are remembered. Only the latest matter: who uses an older one has other worries. */
const MOST_ENDED = 1024;

/** The keys of regions and windows that have ended, and when: for whoever wants to know why a peer was refused. */
export class EndedKeys {
  readonly #keys = new Int32Array(MOST_ENDED);
  readonly #endedUs = new Float64Array(MOST_ENDED);
  #next = 0;

  add(rkey: number, nowUs: number): void {
    this.#keys[this.#next] = rkey;
    this.#endedUs[this.#next] = nowUs;
    this.#next = (this.#next + 1) % MOST_ENDED;
  }

  /** When the key ended, µs, or undefined for one that is not remembered. */
  endOf(rkey: number): number | undefined {
    for (let back = 1; back <= MOST_ENDED; back += 1) {
      const at = (this.#next - back + MOST_ENDED) % MOST_ENDED;
      if (this.#keys[at] === rkey && rkey !== 0) return this.#endedUs[at];
    }
    return undefined;
  }
}
