import type { Engine } from '../../core/index.js';

/** What is kept alive. */
export interface Kept {
  /** How often anything was heard of the peer, or of its adapter. */
  readonly heard: number;
  /** Asks the peer's adapter whether it is there, unless it is being asked something anyway. */
  probe(): void;
}

/**
 * Looks after a connection that rests: when nothing was heard of the peer for some time, its adapter is asked. A connection that is
 * used pays for that with a look at a number now and then.
 */
export class KeepAlive {
  #heard = 0;
  #stop: (() => void) | undefined;

  /** @param periodMs how long a peer may be silent before it is asked; Infinity for as long as it likes */
  constructor(
    private readonly engine: Engine,
    private readonly kept: Kept,
    private readonly periodMs: number,
  ) {
    if (periodMs !== Infinity) this.#wait();
  }

  /** Idempotent. */
  end(): void {
    this.#stop?.();
  }

  #wait(): void {
    // What was heard right after a look is older than that at the next but one.
    this.#stop = this.engine.chore(this.periodMs / 2, () => {
      const { heard } = this.kept;
      if (heard === this.#heard) this.kept.probe();
      this.#heard = heard;
      this.#wait();
    });
  }
}
