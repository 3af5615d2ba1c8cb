import { AccessFlags } from '../../../../device/ibta/index.js';
import { alloc } from '../../../../api/provider/index.js';
import { VerbsError } from '../../../../api/verbs/index.js';
import type { Engine, Registration } from '../../../core/index.js';
import type { RemotePlace } from './frame.js';

/**
 * Bodies up to so long go by a slot. To register memory and to end that are two commands, each of which a NIC in a thread of its own and the program wait for: 110 µs
 * together there, and 20 to 35 in the program's own thread. A copy of 64 KiB takes some 10.
 */
export const MOST_SLOT_BYTES = 131_072;
const LEAST_SLOT_BYTES = 16_384;
/** All slots of a link have no more bytes than that: what finds none is registered where it lies. */
const MOST_BYTES = 8 << 20;
/** As have those of all links of a device together: peers make links, and may never say that they have done with a slot. */
const MOST_OF_ALL_BYTES = 256 << 20;
/** What may lie idle for longer than {@link TRIM_MS}. */
const KEPT_BYTES = 1 << 20;
const TRIM_MS = 1000;

/** Bytes that slots may still take. */
export interface SlotBudget {
  leftBytes: number;
}

const budgets = new WeakMap<Engine, SlotBudget>();

function budgetOf(engine: Engine): SlotBudget {
  let budget = budgets.get(engine);
  if (budget === undefined) {
    budget = { leftBytes: MOST_OF_ALL_BYTES };
    budgets.set(engine, budget);
  }
  return budget;
}

/** Memory of a link that its peer may read and write, for one body at a time. */
export class Slot {
  readonly #memory: Uint8Array;

  constructor(
    readonly index: number,
    private readonly registration: Registration,
    memory: Uint8Array,
  ) {
    this.#memory = memory;
  }

  /** Where it can hold so many bytes. */
  bytes(lengthBytes: number): Uint8Array {
    return this.#memory.subarray(0, lengthBytes);
  }

  place(lengthBytes: number): RemotePlace {
    const { mr, addr } = this.registration;
    return { address: BigInt(addr), rkey: mr.rkey, length: lengthBytes };
  }

  get capacity(): number {
    return this.#memory.length;
  }

  destroy(): void {
    this.registration.release();
  }
}

/**
 * Memory that stays registered, for bodies that the peer reads or writes. Each slot is the same peer's for life: whatever that reads or writes there late, or out of turn, is
 * what it has been given before, or its own, and the program's memory is not within its reach.
 */
export class BodySlots {
  readonly #all = new Set<Slot>();
  /** Those that nobody uses, by their sizes, each of which is twice the one before it. */
  readonly #idle: Slot[][] = [];
  #bytes = 0;
  #idleBytes = 0;
  #stopTrimming: (() => void) | undefined;
  #hasEnded = false;

  constructor(
    private readonly engine: Engine,
    private readonly budget = budgetOf(engine),
  ) {
    for (let bytes = LEAST_SLOT_BYTES; bytes <= MOST_SLOT_BYTES; bytes *= 2) this.#idle.push([]);
  }

  /** @returns undefined where there is none for so many bytes, of which there are more than none */
  lend(lengthBytes: number): Slot | undefined {
    if (lengthBytes > MOST_SLOT_BYTES || this.#hasEnded) return undefined;
    let index = 0;
    while (LEAST_SLOT_BYTES << index < lengthBytes) index += 1;
    const slot = this.#idle[index].pop();
    if (slot === undefined) return this.#make(index);
    this.#idleBytes -= slot.capacity;
    return slot;
  }

  /** To be called once for each that was lent. */
  giveBack(slot: Slot): void {
    if (this.#hasEnded) return;
    this.#idle[slot.index].push(slot);
    this.#idleBytes += slot.capacity;
    if (this.#idleBytes > KEPT_BYTES) this.#stopTrimming ??= this.engine.chore(TRIM_MS, () => this.#trim());
  }

  /** The peer reaches nothing any more, be it lent or not: whoever has lent it may never give it back. */
  end(): void {
    this.#hasEnded = true;
    this.#stopTrimming?.();
    for (const slot of this.#all) this.#destroy(slot);
    for (const slots of this.#idle) slots.length = 0;
  }

  #make(index: number): Slot | undefined {
    const lengthBytes = LEAST_SLOT_BYTES << index;
    if (lengthBytes > Math.min(MOST_BYTES - this.#bytes, this.budget.leftBytes)) return undefined;
    try {
      const memory = alloc(lengthBytes);
      const access = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ;
      const slot = new Slot(index, this.engine.registrations.remote(memory, access), memory);
      this.#all.add(slot);
      this.#bytes += lengthBytes;
      this.budget.leftBytes -= lengthBytes;
      return slot;
    } catch (error) {
      // A device that has no key left.
      if (!(error instanceof VerbsError)) throw error;
      return undefined;
    }
  }

  #trim(): void {
    this.#stopTrimming = undefined;
    for (const slots of this.#idle)
      while (this.#idleBytes > KEPT_BYTES) {
        const slot = slots.pop();
        if (slot === undefined) break;
        this.#idleBytes -= slot.capacity;
        this.#destroy(slot);
      }
  }

  #destroy(slot: Slot): void {
    this.#all.delete(slot);
    this.#bytes -= slot.capacity;
    this.budget.leftBytes += slot.capacity;
    slot.destroy();
  }
}
