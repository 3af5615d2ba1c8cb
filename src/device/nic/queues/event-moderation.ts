import type { TimerOwner, Timers } from '../time/timers.js';

/** The completion queue whose events are held back. */
interface ModeratedQueue {
  /** Raises the event that is armed, if one is. */
  raise(): void;
}

/**
 * Holds the event of a completion queue back until enough completions have come for one, or the first of them has
 * waited long enough (`ibv_modify_cq`; man ibv_modify_cq).
 */
export class EventModeration implements TimerOwner {
  #waiting = 0;

  constructor(
    private readonly cq: ModeratedQueue,
    /** Completions for one event. */
    private readonly count: number,
    /** How long one completion waits at most; 0 is for ever. */
    private readonly periodUs: number,
    readonly timerId: number,
    private readonly timers: Timers,
    private readonly clock: { readonly nowUs: number },
  ) {}

  /** Counts a completion that would raise the event. @returns whether the event has to wait for more of them */
  holdsBack(): boolean {
    this.#waiting += 1;
    if (this.#waiting >= this.count) {
      this.#stop();
      return false;
    }
    if (this.#waiting === 1 && this.periodUs > 0) this.timers.arm(this.timerId, this.clock.nowUs + this.periodUs);
    return true;
  }

  onTimer(): void {
    this.#stop();
    this.cq.raise();
  }

  /** Moderation ends: whatever it holds back goes out. */
  release(): void {
    if (this.#waiting > 0) this.onTimer();
  }

  #stop(): void {
    this.#waiting = 0;
    this.timers.disarm(this.timerId);
  }
}
