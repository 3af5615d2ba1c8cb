/** The end of a program towards its supervisor, whether it runs in a process of its own or in a thread of one. */
import { readdirSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Figures, type Footprint, noFigures, type Order, type Report } from './protocol.js';
import { Stalls } from './stalls.js';

const STATUS_MS = 1000;
/** A garbage collection goes before each. */
const STATUSES_PER_FOOTPRINT = 8;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // V8's own function, by the flag above

function footprint(): Footprint {
  collectGarbage();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  // One is the directory itself.
  const descriptors = readdirSync('/proc/self/fd').length - 1;
  return { rssBytes: rss, heapBytes: heapUsed, externalBytes: external, descriptors, cpuMs: (user + system) / 1000 };
}

export class Desk {
  readonly figures: Figures = noFigures();
  /** What is being done, for whoever asks why nothing happens. */
  doing = 'starting';
  #statuses = 0;
  readonly #stalls = new Stalls();
  readonly #timer: NodeJS.Timeout;

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
    this.#stalls.stop();
  }
}
