/** The end of a program towards its supervisor, whether it runs in a process of its own or in a thread of one. */
import { readdirSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { collector } from '../../test/support/memory.js';
import { type Figures, type Footprint, noFigures, type Order, type Report } from './protocol.js';
import { Stalls } from './stalls.js';

const STATUS_MS = 1000;
/** A garbage collection goes before each. */
const STATUSES_PER_FOOTPRINT = 8;

/** Mean of the times between collections at moments of chance. */
const COLLECTION_MS = 1000;

const collectGarbage = collector();

function footprint(): Footprint {
  collectGarbage();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  // One is the directory itself.
  const descriptors = readdirSync('/proc/self/fd').length - 1;
  return { rssBytes: rss, heapBytes: heapUsed, externalBytes: external, descriptors, cpuMs: (user + system) / 1000 };
}

export class Reporter {
  readonly figures: Figures = noFigures();
  /** What is being done, for whoever asks why nothing happens. */
  doing = 'starting';
  #statuses = 0;
  readonly #stalls = new Stalls();
  readonly #timer: NodeJS.Timeout;
  #collection: NodeJS.Timeout;

  constructor(obey: (order: Order) => void) {
    const take = (order: unknown): void => obey(order as Order); // a supervisor sends nothing else
    if (parentPort === null) {
      process.on('message', take);
      // Whoever started this is gone, and nobody else would end it.
      process.on('disconnect', () => process.exit(1));
      process.channel?.unref();
    } else {
      parentPort.on('message', take);
      parentPort.unref();
    }
    this.#timer = setInterval(() => this.status(), STATUS_MS);
    this.#collection = this.#collectLater();
  }

  tell(report: Report): void {
    if (parentPort !== null) parentPort.postMessage(report);
    else if (process.connected) process.send?.(report);
  }

  violation(text: string): void {
    this.tell({ report: 'violation', text });
  }

  /** Something failed as things may fail. */
  failed(what: string): void {
    this.tell({ report: 'failed', what });
  }

  status(last = false): void {
    const due = last || (parentPort === null && this.#statuses % STATUSES_PER_FOOTPRINT === 0);
    this.#statuses += 1;
    const { figures, doing } = this;
    this.tell({
      report: 'status',
      figures: { ...figures },
      stallMs: this.#stalls.take(),
      doing,
      footprint: due ? footprint() : undefined,
    });
  }

  /** Looks at nothing for so long. */
  sleep(ms: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    this.#stalls.forget();
  }

  /** The program has nothing more to do: from now on nothing of this keeps it alive. */
  close(): void {
    this.status(true);
    clearInterval(this.#timer);
    clearTimeout(this.#collection);
    this.#stalls.stop();
  }

  /** What nobody holds is gone at any moment, also in the midst of a transfer. */
  #collectLater(): NodeJS.Timeout {
    return setTimeout(
      () => {
        collectGarbage();
        this.#collection = this.#collectLater();
      },
      2 * COLLECTION_MS * Math.random(),
    );
  }
}
