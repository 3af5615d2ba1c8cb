import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { SharedDevice } from '../../../entry/index.js';
import type { Scheme } from '../../../entry/xio.js';
import { ToolError } from '../../kit/errors.js';
import type { Counted, LoadSetup, Round } from './load.js';

export type ThreadTask =
  | { readonly kind: 'load'; readonly url: string; readonly setup: LoadSetup; readonly device?: SharedDevice }
  | { readonly kind: 'portal'; readonly scheme: Scheme; readonly host?: string; readonly device?: SharedDevice };

export type Order =
  | { readonly kind: 'run'; readonly round: Round }
  | { readonly kind: 'stop' }
  | { readonly kind: 'close' };

export type Told =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'counted'; readonly counted: Counted }
  | { readonly kind: 'begun'; readonly from: string }
  | { readonly kind: 'ended'; readonly from: string; readonly requests: number }
  | { readonly kind: 'failed'; readonly sentence: string };

/** What this thread is for; undefined in the program itself. */
export function ownTask(): ThreadTask | undefined {
  const data: unknown = workerData;
  // Nobody else starts this program in a thread.
  return typeof data === 'object' && data !== null && 'xioPerftest' in data
    ? (data as { readonly xioPerftest: ThreadTask }).xioPerftest
    : undefined;
}

export function tell(told: Told): void {
  parentPort?.postMessage(told);
}

/** Has the orders of the thread that has started this one obeyed, one after the other; but `stop` comes between. */
export function onOrder(obey: (order: Order) => void): void {
  parentPort?.on('message', obey);
}

/** This program once more, in a thread. */
export class Thread {
  readonly #worker: Worker;
  /** Rejects when it fails, or ends unasked. */
  readonly failed: Promise<never>;
  readonly #told: Told[] = [];
  #wake: (() => void) | undefined;

  /** @param onTold is given what is told of sessions; the rest is for {@link ready} and {@link run} */
  constructor(task: ThreadTask, onTold: (told: Told) => void = () => undefined) {
    const { device } = task;
    this.#worker = new Worker(realpathSync(process.argv[1]), {
      argv: ['xio_perftest'],
      workerData: { xioPerftest: task },
      transferList: device?.port === undefined ? [] : [device.port],
    });
    const failed = new AbortController();
    this.failed = once(failed.signal, 'abort').then(() => {
      throw failed.signal.reason;
    });
    // Whoever waits for something of it hears of it.
    this.failed.catch(() => undefined);
    this.#worker.on('error', (error) => failed.abort(error));
    this.#worker.on('exit', () => failed.abort(new ToolError('A thread has ended early.')));
    this.#worker.on('message', (told: Told) => {
      if (told.kind === 'failed') failed.abort(new ToolError(told.sentence));
      else if (told.kind === 'begun' || told.kind === 'ended') onTold(told);
      else {
        this.#told.push(told);
        this.#wake?.();
      }
    });
  }

  async ready(): Promise<string> {
    const told = await this.#next();
    if (told.kind !== 'ready') throw new Error(`verbena: internal error: a thread says ${told.kind} first`);
    return told.url;
  }

  async run(round: Round): Promise<Counted> {
    this.#order({ kind: 'run', round });
    const told = await this.#next();
    if (told.kind !== 'counted') throw new Error(`verbena: internal error: a thread says ${told.kind}`);
    return told.counted;
  }

  stop(): void {
    this.#order({ kind: 'stop' });
  }

  async close(): Promise<void> {
    const gone = once(this.#worker, 'exit');
    this.#order({ kind: 'close' });
    await gone;
  }

  #order(order: Order): void {
    this.#worker.postMessage(order);
  }

  async #next(): Promise<Told> {
    for (;;) {
      const told = this.#told.shift();
      if (told !== undefined) return told;
      await Promise.race([new Promise<void>((resolve) => (this.#wake = resolve)), this.failed]);
    }
  }
}
