import assert from 'node:assert/strict';
import type { CmTimers } from '../../index.js';

interface Timer {
  owner: { onTimer(): void } | undefined;
  deadlineUs: number;
}

/** Timers that a test looks into. Whoever uses one that is not theirs any more fails the test. */
export class TestTimers implements CmTimers {
  readonly #timers = new Map<number, Timer>();
  #next = 1;

  get taken(): number {
    return this.#timers.size;
  }

  get nextUs(): number {
    return Math.min(Infinity, ...[...this.#timers.values()].map(({ deadlineUs }) => deadlineUs));
  }

  take(): number {
    const id = this.#next++;
    this.#timers.set(id, { owner: undefined, deadlineUs: Infinity });
    return id;
  }

  assign(id: number, owner: { onTimer(): void }): void {
    this.#find(id).owner = owner;
  }

  release(id: number): void {
    this.#find(id);
    this.#timers.delete(id);
  }

  arm(id: number, deadlineUs: number): void {
    assert.ok(Number.isFinite(deadlineUs), `timer ${id} is armed for ${deadlineUs}`);
    this.#find(id).deadlineUs = deadlineUs;
  }

  cancel(id: number): void {
    this.#find(id).deadlineUs = Infinity;
  }

  /** Calls the owner of every timer that is due. */
  expire(nowUs: number): void {
    for (const timer of [...this.#timers.values()]) {
      if (timer.deadlineUs > nowUs) continue;
      timer.deadlineUs = Infinity;
      timer.owner?.onTimer();
    }
  }

  #find(id: number): Timer {
    const timer = this.#timers.get(id);
    assert.ok(timer, `timer ${id} was released before`);
    return timer;
  }
}
