import { assert } from '../../ibta/index.js';

/**
 * One hierarchical timing wheel for all timers of a NIC: setting, moving and clearing a timer costs the same for one
 * QP and for ten thousand.
 *
 * Deadlines are rounded up to a tick, so a timer never fires early. Timers are numbers that the owner hands out; each
 * stands in the wheel at most once.
 */

/** Length of a tick: below the shortest RNR timer of 10 µs (protocol/packets.md 1.4). */
const TICK_US = 4;
const SLOTS = 64;
/** 64^6 ticks of 4 µs are three days; the longest ACK timeout is 2.4 hours (4.096 µs · 2^31). */
const LEVELS = 6;
const NONE = -1;

export class TimerWheel {
  /** No timer is due before this. */
  nextDueUs = Infinity;

  readonly #heads = new Int32Array(LEVELS * SLOTS).fill(NONE);
  readonly #levelCount = new Int32Array(LEVELS);
  #next = new Int32Array(64).fill(NONE);
  #previous = new Int32Array(64).fill(NONE);
  #slot = new Int32Array(64).fill(NONE);
  #dueTick = new Float64Array(64);
  #nowTick = 0;

  /** Sets or moves timer `id` to `deadlineUs`; one that lies in the past fires at the next {@link expire}. */
  set(id: number, deadlineUs: number): void {
    if (id >= this.#slot.length) this.#grow(id + 1);
    if (this.#slot[id] !== NONE) this.#unlink(id);
    this.#dueTick[id] = Math.max(Math.ceil(deadlineUs / TICK_US), this.#nowTick);
    this.#link(id);
    this.nextDueUs = Math.min(this.nextDueUs, this.#dueTick[id] * TICK_US);
  }

  clear(id: number): void {
    if (id < this.#slot.length && this.#slot[id] !== NONE) this.#unlink(id);
  }

  /** When timer `id` is set to fire, in µs, or Infinity. */
  dueUs(id: number): number {
    return id < this.#slot.length && this.#slot[id] !== NONE ? this.#dueTick[id] * TICK_US : Infinity;
  }

  /** Fires every timer that is due at `nowUs`, in order of their ticks. `fire` may set timers again. */
  expire(nowUs: number, fire: (id: number) => void): void {
    if (nowUs < this.nextDueUs) return;
    const lastTick = Math.floor(nowUs / TICK_US);
    for (;;) {
      const tick = this.#nextTick();
      if (tick > lastTick) {
        this.nextDueUs = tick * TICK_US;
        break;
      }
      assert(tick >= this.#nowTick, 'a timer stands in the past');
      const due = this.#takeSlotsOf(tick);
      this.#nowTick = tick;
      for (const id of due) {
        // One that fired before it may have set it anew.
        if (this.#slot[id] !== NONE) continue;
        if (this.#dueTick[id] > tick) this.#link(id);
        else fire(id);
      }
    }
    this.#nowTick = Math.max(this.#nowTick, lastTick);
  }

  /** Empties the slots of all levels that begin at `tick`: together, since once it is past they are a turn away. */
  #takeSlotsOf(tick: number): number[] {
    const due: number[] = [];
    let slotTicks = 1;
    for (let level = 0; level < LEVELS && tick % slotTicks === 0; level += 1, slotTicks *= SLOTS) {
      if (level > 0 && tick === this.#nowTick) break;
      const slot = level * SLOTS + (Math.floor(tick / slotTicks) % SLOTS);
      for (let id = this.#heads[slot]; id !== NONE; id = this.#next[id]) due.push(id);
    }
    for (const id of due) this.#unlink(id);
    return due;
  }

  #link(id: number): void {
    const due = this.#dueTick[id];
    const delta = due - this.#nowTick;
    let level = 0;
    let slotTicks = 1;
    while (level < LEVELS - 1 && delta >= slotTicks * SLOTS) {
      level += 1;
      slotTicks *= SLOTS;
    }
    // Beyond the last level a timer waits in its farthest slot and is placed anew from there.
    const position = Math.min(Math.floor(due / slotTicks), Math.floor(this.#nowTick / slotTicks) + SLOTS);
    const slot = level * SLOTS + (position % SLOTS);
    const head = this.#heads[slot];
    this.#slot[id] = slot;
    this.#next[id] = head;
    this.#previous[id] = NONE;
    if (head !== NONE) this.#previous[head] = id;
    this.#heads[slot] = id;
    this.#levelCount[level] += 1;
  }

  #unlink(id: number): void {
    const slot = this.#slot[id];
    const next = this.#next[id];
    const previous = this.#previous[id];
    if (previous === NONE) this.#heads[slot] = next;
    else this.#next[previous] = next;
    if (next !== NONE) this.#previous[next] = previous;
    this.#slot[id] = NONE;
    this.#levelCount[Math.floor(slot / SLOTS)] -= 1;
  }

  /** The tick at which the first occupied slot begins; Infinity when there is none. */
  #nextTick(): number {
    let best = Infinity;
    let slotTicks = 1;
    for (let level = 0; level < LEVELS; level += 1, slotTicks *= SLOTS) {
      if (this.#levelCount[level] === 0) continue;
      const position = Math.floor(this.#nowTick / slotTicks);
      // Above the finest level the slot of the present was emptied when its time came: what stands there is a turn away.
      const first = level === 0 ? 0 : 1;
      for (let distance = first; distance < SLOTS + first; distance += 1) {
        const slot = level * SLOTS + ((position + distance) % SLOTS);
        if (this.#heads[slot] === NONE) continue;
        best = Math.min(best, (position + distance) * slotTicks);
        break;
      }
    }
    return best;
  }

  #grow(atLeast: number): void {
    const size = Math.max(atLeast, 2 * this.#slot.length);
    const grown = (old: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> => {
      const array = new Int32Array(size).fill(NONE);
      array.set(old);
      return array;
    };
    this.#next = grown(this.#next);
    this.#previous = grown(this.#previous);
    this.#slot = grown(this.#slot);
    const due = new Float64Array(size);
    due.set(this.#dueTick);
    this.#dueTick = due;
  }
}
