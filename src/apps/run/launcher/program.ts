import { Worker } from 'node:worker_threads';
import type { FromWorker, ProgramOrder } from './program-messages.js';

/** What the program is told and tells, beside its calls. */
export interface ProgramCallbacks {
  /** Its calls, and those of all that it starts, come to this descriptor. Nothing is started before that has returned. */
  onFiltered(listenerFd: number): void;
  onStarted(): void;
  /** It has ended, or could not be started. `sentence` says why it could not. */
  onEnded(end: ProgramEnd): void;
}

export interface ProgramEnd {
  readonly code: number;
  readonly signal: NodeJS.Signals | null;
  readonly refused?: string;
  readonly sentence?: string;
}

/** The program that was asked for, and the thread that has started it. */
export class Program {
  /** 0 before it has started, and when it has ended: the number may soon be another's. */
  pid = 0;
  readonly #worker: Worker;
  readonly #go = new Int32Array(new SharedArrayBuffer(4));

  constructor(
    filter: Uint8Array,
    wakeFd: number,
    [file = '', ...args]: readonly string[],
    private readonly callbacks: ProgramCallbacks,
  ) {
    const order: ProgramOrder = { filter, wakeFd, file, args, go: this.#go };
    this.#worker = new Worker(new URL('./program-worker.js', import.meta.url), {
      name: 'verbena-run',
      workerData: order,
      execArgv: [],
    });
    this.#worker.on('message', (message: FromWorker) => this.#take(message));
    this.#worker.once('error', (error) => {
      callbacks.onEnded({ code: 1, signal: null, sentence: error.message });
    });
  }

  /** Hands a signal on. @returns false when it has ended, or has not started */
  kill(signal: NodeJS.Signals): boolean {
    if (this.pid === 0) return false;
    try {
      return process.kill(this.pid, signal);
    } catch {
      // It has just ended.
      return false;
    }
  }

  /** Ends the thread, whose filter is then in force for nobody but programs. */
  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #take(message: FromWorker): void {
    const { callbacks } = this;
    switch (message.kind) {
      case 'filtered':
        callbacks.onFiltered(message.listenerFd);
        Atomics.store(this.#go, 0, 1);
        Atomics.notify(this.#go, 0);
        return;
      case 'started':
        this.pid = message.pid;
        callbacks.onStarted();
        return;
      case 'ended':
        this.pid = 0;
        callbacks.onEnded({ code: message.code, signal: message.signal });
        return;
      case 'failed':
        callbacks.onEnded({ code: message.code, signal: null, sentence: message.message });
        return;
      case 'refused':
        callbacks.onEnded({ code: 1, signal: null, refused: message.errno });
        return;
    }
  }
}
