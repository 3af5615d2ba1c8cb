import { Worker } from 'node:worker_threads';

export interface ProgramOrder {
  readonly filter: Uint8Array;
  /** An event descriptor to ring after each message. */
  readonly wakeFd: number;
  readonly file: string;
  readonly args: readonly string[];
  /** Becomes 1 once somebody answers the calls of the filter. */
  readonly go: Int32Array;
}

/** What it tells. After the last three it has nothing more to do, and ends. */
export type FromWorker =
  | { readonly kind: 'filtered'; readonly listenerFd: number }
  | { readonly kind: 'refused'; readonly errno: string }
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'failed'; readonly errno: string };

/**
 * The thread that starts the program, once it is told to. To get ready takes it as long as all else takes that is to be done before: so it
 * is made first, by whoever has loaded next to nothing yet.
 */
export class ProgramThread {
  readonly #worker = new Worker(new URL('./program-worker.js', import.meta.url), { name: 'verbena-run', execArgv: [] });
  readonly #failure = new Promise<Error>((resolve) => this.#worker.once('error', resolve));

  /** Has it start the program. To be called once. */
  order(order: ProgramOrder, onMessage: (message: FromWorker) => void): void {
    this.#worker.on('message', onMessage);
    this.#worker.postMessage(order);
  }

  /** It has ended in an error, or does so later. */
  onFailure(tell: (error: Error) => void): void {
    void this.#failure.then(tell);
  }
}
