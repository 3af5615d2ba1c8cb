/** A program whose client runs in a thread, which it terminates in the midst of anything, and starts anew. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Reporter } from './reporter.js';
import type { MemberOptions, Order, Report } from './protocol.js';

export class HostedClient {
  #worker: Worker;
  #terminating: Promise<void> = Promise.resolve();
  #ended: Promise<void>;

  constructor(
    private readonly options: MemberOptions,
    private readonly reporter: Reporter,
  ) {
    [this.#worker, this.#ended] = this.#start();
  }

  interrupt(): void {
    this.#worker.postMessage({ order: 'die', moment: 'close', delayMs: 0 } satisfies Order);
  }

  async terminate(restMs: number): Promise<void> {
    this.#terminating = this.#terminate(restMs);
    return this.#terminating;
  }

  async finish(): Promise<void> {
    await this.#terminating;
    this.#worker.postMessage({ order: 'finish' } satisfies Order);
    await this.#ended;
  }

  async #terminate(restMs: number): Promise<void> {
    this.reporter.doing = 'terminating the thread of the client';
    const begun = performance.now();
    await this.#worker.terminate();
    this.reporter.tell({ report: 'terminated', tookMs: performance.now() - begun });
    this.reporter.doing = 'starting a client in a thread';
    await sleep(restMs);
    [this.#worker, this.#ended] = this.#start();
  }

  #start(): [Worker, Promise<void>] {
    const worker = new Worker(new URL('./member.js', import.meta.url), {
      workerData: { ...this.options, role: 'client', seed: this.options.seed + performance.now() },
    });
    const { figures } = this.reporter;
    const before = { ...figures };
    worker.on('message', (report: Report) => {
      if (report.report === 'ready') return;
      if (report.report !== 'status') {
        this.reporter.tell(report);
        return;
      }
      for (const name of Object.keys(before) as (keyof typeof before)[])
        // those of a literal
        figures[name] = before[name] + report.figures[name];
      this.reporter.doing = report.doing;
    });
    worker.on('error', (error) =>
      this.reporter.violation(`the thread of the client failed: ${error.stack ?? error.message}`),
    );
    return [worker, new Promise((resolve) => worker.on('exit', () => resolve()))];
  }
}
