import { type CompChannel, type Context, type Cq, VerbsError, type WorkCompletion } from '../../index.js';
import { attempt } from '../errors.js';

/** Empty polls in a row, some tens of microseconds, after which polling pauses. */
const PATIENCE = 500;
const NAP_MS = 0.02;
/** Silence after which the user is told what it may mean. */
const SILENCE_MS = 5000;
const idle = new Int32Array(new SharedArrayBuffer(4));

/** Waits for completions, by polling or by sleeping on events. */
export class Waiting {
  readonly #context: Context;
  readonly #cqs: readonly Cq[];
  readonly #channel: CompChannel | undefined;
  readonly #meaning: string;
  #toldSilence = false;

  /**
   * @param cqs where completions may come; all of them on the channel, and armed, if there is one
   * @param meaning what it may mean that nothing comes, as the end of a sentence
   */
  constructor(context: Context, cqs: readonly Cq[], channel: CompChannel | undefined, meaning: string) {
    this.#context = context;
    this.#cqs = cqs;
    this.#channel = channel;
    this.#meaning = meaning;
  }

  /** Up to `limit` completions; after an event there may be none. */
  next(limit: number): WorkCompletion[] {
    const channel = this.#channel;
    if (channel === undefined) return this.#poll(limit);
    const cq = attempt('Failed to get cq_event', () => this.#awaitEvent(channel));
    cq.ackEvents();
    attempt("Couldn't request CQ notification", () => cq.reqNotify());
    return cq.poll(limit);
  }

  #poll(limit: number): WorkCompletion[] {
    let silentSince = 0;
    for (let empty = 0; ; empty += 1) {
      for (const cq of this.#cqs) {
        const completions = cq.poll(limit);
        if (completions.length > 0) return completions;
      }
      if (empty % PATIENCE === 0) {
        const now = performance.now();
        if (empty === 0) silentSince = now;
        else if (now - silentSince > SILENCE_MS) this.#tellSilence();
      }
      // An inline NIC lives from our polling. One in a thread may need the core that we hold.
      if (empty >= PATIENCE && this.#context.host === 'thread') Atomics.wait(idle, 0, 0, NAP_MS);
    }
  }

  #awaitEvent(channel: CompChannel): Cq {
    if (!this.#toldSilence) {
      try {
        return channel.getCqEvent(SILENCE_MS);
      } catch (error) {
        if (!(error instanceof VerbsError && error.errno === 'ETIMEDOUT')) throw error;
        this.#tellSilence();
      }
    }
    return channel.getCqEvent();
  }

  /** A request to receive never times out. */
  #tellSilence(): void {
    if (this.#toldSilence) return;
    this.#toldSilence = true;
    process.stderr.write(`Nothing has come from the peer for ${SILENCE_MS / 1000} s; ${this.#meaning}.\n`);
  }
}
