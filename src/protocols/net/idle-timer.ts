/** Tells when nothing has happened for so long. It keeps no process alive, and a touch costs no new timer. */
export class IdleTimer {
  #timer: NodeJS.Timeout | undefined;
  #lastProgress = 0;

  /** @param progress of what takes long: while that changes nobody is idle; undefined where there is no such */
  constructor(
    private readonly onIdle: () => void,
    private readonly progress: () => number | undefined,
  ) {}

  /** Begins anew. @param delayMs 0: it tells nothing any more */
  set(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = delayMs === 0 ? undefined : setTimeout(() => this.#elapsed(), delayMs).unref();
  }

  touch(): void {
    this.#timer?.refresh();
  }

  #elapsed(): void {
    const progress = this.progress();
    if (progress === undefined || progress === this.#lastProgress) {
      this.onIdle();
      return;
    }
    this.#lastProgress = progress;
    this.touch();
  }
}
