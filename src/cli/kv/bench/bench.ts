import type { KvCalls } from '../../../entry/kv.js';
import { KvLoad, type LoadResult } from './load.js';
import type { ProgressBar } from '../../kit/progress.js';
import { countText } from '../common/units.js';
import type { Workload } from './workload.js';

const TICK_MS = 200;
/** Keys that are set at a time, before it begins. */
const FILLED_AT_A_TIME = 512;

/** Runs, one for each window, and what came of them. */
export class Bench {
  readonly #clients: readonly KvCalls[];
  readonly #workload: Workload;
  readonly #progress: ProgressBar;
  readonly #done: LoadResult[] = [];
  #running: KvLoad | undefined;
  #isStopped = false;

  constructor(clients: readonly KvCalls[], workload: Workload, progress: ProgressBar) {
    this.#clients = clients;
    this.#workload = workload;
    this.#progress = progress;
  }

  /** What came so far of the run that is under way, or has failed. */
  get cut(): LoadResult | undefined {
    const result = this.#running?.result;
    return result?.operations === 0 ? undefined : result;
  }

  /** What came of all runs, that which is under way included. */
  get results(): readonly LoadResult[] {
    const { cut } = this;
    return cut === undefined ? this.#done : [...this.#done, cut];
  }

  /** Whether {@link stop} was called. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Gives each key a value. @throws KvError ENOSPC (the promise rejects) when they do not fit */
  async fill(): Promise<void> {
    const { keys } = this.#workload;
    const [client] = this.#clients;
    this.#progress.start(keys.length, { what: 'filling', operations: '0' });
    for (let at = 0; at < keys.length; at += FILLED_AT_A_TIME) {
      const some = keys.slice(at, at + FILLED_AT_A_TIME);
      await client.setMany(some.map((key) => ({ key, value: this.#workload.value() })));
      this.#progress.at(at, { operations: countText(at) });
    }
    this.#progress.stop();
  }

  async run(window: number, warmUpMs: number, measuredMs: number): Promise<LoadResult> {
    const load = new KvLoad(this.#clients, this.#workload, window);
    this.#running = load;
    const begunMs = performance.now();
    this.#progress.start(warmUpMs + measuredMs, { what: `window ${window}`, operations: '0' });
    const ticks = setInterval(() => {
      this.#progress.at(performance.now() - begunMs, { operations: countText(load.result.operations) });
    }, TICK_MS);
    try {
      await load.run(warmUpMs, measuredMs);
    } finally {
      clearInterval(ticks);
      this.#progress.stop();
    }
    if (!this.#isStopped) {
      this.#running = undefined;
      this.#done.push(load.result);
    }
    return load.result;
  }

  /** Sends no more: what was so far is what there is. */
  stop(): void {
    this.#isStopped = true;
    this.#running?.stop();
    this.#progress.stop();
  }
}
