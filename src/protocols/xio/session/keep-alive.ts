import type { Link } from '../transport/index.js';

/** How a link is looked after. */
export interface KeepAliveSettings {
  readonly keepAliveMs: number;
  readonly keepAliveIntervalMs: number;
  readonly keepAliveProbes: number;
}

/** Looks after a link that rests: when nothing was heard for some time, the peer is asked; when that is in vain, the link is given up. */
export class KeepAlive {
  #heard = 0;
  #asked = 0;
  #stop: (() => void) | undefined;

  constructor(
    private readonly link: Link,
    private readonly settings: KeepAliveSettings,
    /** How often the peer's program was heard. Its adapter may answer though it does not. */
    private readonly heard: () => number,
    private readonly ask: () => void,
  ) {
    if (settings.keepAliveMs !== Infinity) this.#wait(settings.keepAliveMs);
  }

  /** Idempotent. */
  end(): void {
    this.#stop?.();
  }

  #wait(delayMs: number): void {
    this.#stop = this.link.clock.chore(delayMs, () => this.#look());
  }

  #look(): void {
    const { keepAliveMs, keepAliveIntervalMs, keepAliveProbes } = this.settings;
    const heard = this.heard();
    if (heard !== this.#heard) {
      this.#heard = heard;
      this.#asked = 0;
      this.#wait(keepAliveMs);
      return;
    }
    if (this.#asked === keepAliveProbes) {
      this.link.abort();
      return;
    }
    this.#asked += 1;
    this.ask();
    this.#wait(keepAliveIntervalMs);
  }
}
