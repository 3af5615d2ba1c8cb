import type { Engine } from '../../../core/index.js';

const FIRST_MS = 20;
const TIMES = 6;

/** How a peer is told that an endpoint has ended: again and again, until it says that it knows, or for about a second. Nobody waits for that. */
export class Farewell {
  #times = 0;
  #stop: (() => void) | undefined;

  /**
   * @param say sends it
   * @param onOver is told when it was said often enough
   */
  constructor(
    private readonly engine: Engine,
    private readonly say: () => void,
    private readonly onOver: () => void,
  ) {
    this.#sayAndWait();
  }

  /** The peer has sent something: it does not know. */
  again(): void {
    this.say();
  }

  /** Idempotent. */
  end(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  #sayAndWait(): void {
    this.say();
    this.#stop = this.engine.chore(FIRST_MS * 2 ** this.#times, () => {
      this.#times += 1;
      if (this.#times < TIMES) this.#sayAndWait();
      else this.onOver();
    });
  }
}
