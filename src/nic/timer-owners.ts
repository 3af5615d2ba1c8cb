import type { TimerOwner } from './nic-core.js';

/** Who owns which timer of the wheel: numbers that go from owner to owner. */
export class TimerOwners {
  readonly #owners: (TimerOwner | undefined)[] = [];
  readonly #free: number[] = [];

  /** A number for a timer of an owner that {@link set} is to name. */
  take(): number {
    const id = this.#free.pop() ?? this.#owners.length;
    this.#owners[id] = undefined;
    return id;
  }

  set(id: number, owner: TimerOwner): void {
    this.#owners[id] = owner;
  }

  release(id: number): void {
    this.#owners[id] = undefined;
    this.#free.push(id);
  }

  fire(id: number): void {
    this.#owners[id]?.onTimer();
  }
}
