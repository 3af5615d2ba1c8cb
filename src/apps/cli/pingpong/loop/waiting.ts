import { type CompChannel, type Context, type Cq, VerbsError, type WorkCompletion } from '../../../../index.js';
import { attempt } from '../../shared/errors.js';

/** Empty polls in a row, some tens of microseconds, after which polling pauses. */
const PATIENCE = 500;
const NAP_MS = 0.02;
/** Silence after which the user is told what it may mean. */
const SILENCE_MS = 5000;
const idle = new Int32Array(new SharedArrayBuffer(4));

/** How long to be patient, and what to say when patience ends. */
export interface Silence {
  /** What it may mean that nothing comes, as the end of a sentence. */
  readonly meaning: string;
  /** After which the user is told; default 5000. */
  readonly ms?: number;
  /** Default: to standard error. */
  readonly tell?: (text: string) => void;
}

/** Waits for completions, by polling or by sleeping on events. */
export class Waiting {
  readonly #host: Context['host'];
  readonly #cqs: readonly Pick<Cq, 'poll'>[];
  readonly #channel: Pick<CompChannel, 'getCqEvent'> | undefined;
  readonly #silence: Required<Silence>;
  #toldSilence = false;

  /** @param cqs where completions may come; all of them on the channel, and armed, if there is one */
  constructor(
    { host }: Pick<Context, 'host'>,
    cqs: readonly Pick<Cq, 'poll'>[],
    channel: Pick<CompChannel, 'getCqEvent'> | undefined,
    silence: Silence,
  ) {
    this.#host = host;
    this.#cqs = cqs;
    this.#channel = channel;
    this.#silence = { ms: SILENCE_MS, tell: (text) => process.stderr.write(text), ...silence };
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
        else if (now - silentSince > this.#silence.ms) this.#tellSilence();
      }
      // An inline NIC lives from our polling. One in a thread may need the core that we hold.
      if (empty >= PATIENCE && this.#host === 'thread') Atomics.wait(idle, 0, 0, NAP_MS);
    }
  }

  #awaitEvent(channel: Pick<CompChannel, 'getCqEvent'>): Cq {
    if (!this.#toldSilence) {
      try {
        return channel.getCqEvent(this.#silence.ms);
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
    const { ms, meaning, tell } = this.#silence;
    tell(`Nothing has come from the peer for ${ms / 1000} s; ${meaning}.\n`);
  }
}
