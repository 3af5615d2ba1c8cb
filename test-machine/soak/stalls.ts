/** How long a machine did not let this process run: what is no fault of the process. */
import { readdirSync, readFileSync } from 'node:fs';

const BEAT_MS = 50;

/** Nanoseconds that each thread has waited for a processor; none where the kernel does not tell. */
function waitedNs(): Map<string, number> {
  const waited = new Map<string, number>();
  try {
    for (const task of readdirSync('/proc/self/task'))
      waited.set(task, Number(readFileSync(`/proc/self/task/${task}/schedstat`, 'utf8').split(' ')[1]));
  } catch {
    // A thread that has just ended.
  }
  return waited;
}

export class Stalls {
  #last = performance.now();
  #longestMs = 0;
  #waited = waitedNs();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.#beat(), BEAT_MS).unref();
  }

  /** The longest since the last time it was asked. */
  take(): number {
    this.#beat();
    const waited = waitedNs();
    let longest = this.#longestMs;
    for (const [task, ns] of waited) longest = Math.max(longest, (ns - (this.#waited.get(task) ?? 0)) / 1e6);
    this.#waited = waited;
    this.#longestMs = 0;
    return longest;
  }

  /** What was is not the machine's doing. */
  forget(): void {
    this.#last = performance.now();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const now = performance.now();
    this.#longestMs = Math.max(this.#longestMs, now - this.#last - BEAT_MS);
    this.#last = now;
  }
}
