import { endOnInterrupt } from '../../kit/interrupt.js';
import { progressBar } from '../../kit/progress.js';
import { figuresOf } from './figures.js';
import type { Request, XioPerfFlags } from './flags.js';
import { type Lanes, lanesTo } from './lanes.js';
import { Report } from './report.js';

const TICK_MS = 200;

/** Shows, on a terminal alone, how far a size is: on standard error, so that the table goes into a file without it. @returns to be called at its end */
function showProgress(what: string, totalMs: number): () => void {
  const bar = progressBar('{what}', process.stderr, true);
  const begunMs = performance.now();
  bar.start(totalMs, { what });
  const ticks = setInterval(() => bar.at(performance.now() - begunMs), TICK_MS);
  return () => {
    clearInterval(ticks);
    bar.stop();
  };
}

class Client {
  #isInterrupted = false;
  #underWay: Promise<void> = Promise.resolve();

  constructor(
    private readonly lanes: Lanes,
    private readonly report: Report,
    private readonly flags: XioPerfFlags,
  ) {}

  async run(sizes: readonly number[]): Promise<void> {
    this.report.head();
    try {
      for (const bytes of sizes) {
        this.#underWay = this.#measure(bytes);
        await this.#underWay;
        if (this.#isInterrupted) return;
      }
    } catch (error) {
      // What was measured before is worth having.
      this.report.end(true);
      throw error;
    }
    this.report.end(false);
    await this.lanes.close();
  }

  /** Ends the size that is under way, and tells what there is. */
  async interrupt(): Promise<void> {
    this.#isInterrupted = true;
    this.lanes.stop();
    // Its failure is told by whoever runs it.
    await this.#underWay.catch(() => undefined);
    this.report.end(true);
    await this.lanes.close();
  }

  async #measure(bytes: number): Promise<void> {
    const { warmUp, seconds } = this.flags;
    const round = { bytes, warmUpMs: warmUp * 1000, measuredMs: seconds * 1000 };
    const over = showProgress(`${bytes} bytes`, round.warmUpMs + round.measuredMs);
    try {
      const figures = figuresOf(bytes, await this.lanes.run(round));
      over();
      if (this.#isInterrupted) this.report.cut(figures);
      else this.report.row(figures);
    } finally {
      over();
    }
  }
}

/** Measures one size after the other, and prints what came of it. */
export async function beClient(host: string, request: Request, flags: XioPerfFlags): Promise<void> {
  const report = new Report(request, flags);
  const lanes = await lanesTo(host, request, flags);
  const client = new Client(lanes, report, flags);
  endOnInterrupt(() => client.interrupt());
  await client.run(request.sizes);
}
