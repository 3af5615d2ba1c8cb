import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** Up to a minute, by three digits. */
const HISTOGRAM = { lowest: 1, highest: 60e9, figures: 3 } as const;
const NS_OF_MS = 1e6;

export const emptyHistogram = (): RecordableHistogram => createHistogram(HISTOGRAM);

/** Lanes of requests, one after the other in each, which are counted from the end of a warm-up until the time is over. */
export abstract class Load {
  /** Of the times from each request until its answer, in ns. */
  protected histogram = emptyHistogram();
  protected isOver = false;
  protected isMeasured = false;
  protected begunMs = 0;
  #endedMs = 0;

  /** Sends no more. What was counted until now is the result. */
  stop(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#endedMs = performance.now();
  }

  /** For how long it has counted, also before it is over. */
  protected get seconds(): number {
    if (!this.isMeasured) return 0;
    return ((this.isOver ? this.#endedMs : performance.now()) - this.begunMs) / 1000;
  }

  /** The first failure of a lane (the promise rejects) ends all of them. @param lanes starts them, when the warm-up begins */
  protected async play(
    warmUpMs: number,
    measuredMs: number,
    lanes: () => Promise<readonly Promise<void>[]>,
  ): Promise<void> {
    this.histogram = emptyHistogram();
    this.isOver = this.isMeasured = false;
    const warm = setTimeout(() => !this.isOver && this.measure(), warmUpMs);
    const over = setTimeout(() => this.timeIsUp(), warmUpMs + measuredMs);
    try {
      await Promise.all(await lanes());
    } finally {
      clearTimeout(warm);
      clearTimeout(over);
      this.stop();
    }
  }

  protected measure(): void {
    this.begunMs = performance.now();
    this.isMeasured = true;
  }

  protected timeIsUp(): void {
    this.stop();
  }

  /** A request that was sent then is answered. */
  protected record(sentMs: number): void {
    this.histogram.record(Math.max(1, Math.round((performance.now() - sentMs) * NS_OF_MS)));
  }
}
