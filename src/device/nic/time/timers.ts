import { assert } from '../../ibta/index.js';
import { TimerWheel } from './timer-wheel.js';

export interface TimerOwner {
  /**
   * Its time has come; it is disarmed by then.
   *
   * @param lateUs how long ago: until now nobody ran the NIC
   */
  onTimer(lateUs: number): void;
}

/**
 * The timers of a NIC: numbers that owners take and release, each with at most one deadline.
 *
 * They are lazy. Moving a deadline out, or disarming, changes a number and no more; the wheel keeps the earlier time and
 * looks again when that comes. A retry timer is moved at every acknowledgement and nearly never runs out. Whoever sleeps is
 * woken for that look, so a timer that is not soon set again is to be cancelled.
 */
export class Timers {
  readonly #wheel = new TimerWheel();
  readonly #owners: (TimerOwner | undefined)[] = [];
  readonly #free: number[] = [];
  /** By timer, side by side, so that one which has nothing to do costs no look at its owner. */
  #deadlineUs = new Float64Array(64).fill(Infinity);
  #nowUs = 0;

  /** Timers that were taken and not released. */
  get size(): number {
    return this.#owners.length - this.#free.length;
  }

  /** A number for a timer of an owner that {@link assign} is to name. */
  take(): number {
    const id = this.#free.pop() ?? this.#owners.length;
    this.#owners[id] = undefined;
    if (id >= this.#deadlineUs.length) {
      const longer = new Float64Array(2 * this.#deadlineUs.length).fill(Infinity);
      longer.set(this.#deadlineUs);
      this.#deadlineUs = longer;
    }
    return id;
  }

  assign(id: number, owner: TimerOwner): void {
    this.#owners[id] = owner;
  }

  release(id: number): void {
    assert(this.#owners[id] !== undefined, 'a timer is released that nobody has');
    this.#deadlineUs[id] = Infinity;
    this.#wheel.clear(id);
    this.#owners[id] = undefined;
    this.#free.push(id);
  }

  /** Sets or moves the deadline of a timer; Infinity is never. */
  arm(id: number, deadlineUs: number): void {
    assert(deadlineUs >= 0, 'a timer is set to no time');
    this.#deadlineUs[id] = deadlineUs;
    if (deadlineUs < this.#wheel.dueUs(id)) this.#wheel.set(id, deadlineUs);
  }

  disarm(id: number): void {
    this.#deadlineUs[id] = Infinity;
  }

  /** As {@link disarm}, of a timer that is seldom set: nobody is woken because of it. */
  cancel(id: number): void {
    this.disarm(id);
    this.#wheel.clear(id);
  }

  isArmed(id: number): boolean {
    return this.#deadlineUs[id] !== Infinity;
  }

  /** No timer is due before this. */
  get nextDueUs(): number {
    return this.#wheel.nextDueUs;
  }

  /** Calls the owner of every timer that is due. */
  expire(nowUs: number): void {
    this.#nowUs = nowUs;
    this.#wheel.expire(nowUs, this.#fire);
  }

  readonly #fire = (id: number): void => {
    const deadlineUs = this.#deadlineUs[id];
    if (deadlineUs === Infinity) return;
    if (this.#nowUs < deadlineUs) {
      this.#wheel.set(id, deadlineUs);
      return;
    }
    this.#deadlineUs[id] = Infinity;
    const owner = this.#owners[id];
    assert(owner !== undefined, 'a timer runs out that nobody has');
    owner.onTimer(this.#nowUs - deadlineUs);
  };
}
