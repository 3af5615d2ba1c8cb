import { type CompChannel, type Context, type Cq, VerbsError, type WorkCompletion } from '../../../entry/index.js';
import { attempt } from '../../kit/errors.js';

/** Empty polls in a row, some tens of microseconds, after which polling pauses. */
const PATIENCE = 500;
/** Empty polls in a row after which the time is looked at for that; of a NIC in a thread each of them takes a nap. */
const POLLS_PER_TURN = { thread: PATIENCE, inline: 16 * PATIENCE } as const;
const NAP_MS = 0.02;
/** Silence after which the user is told what it may mean. */
const SILENCE_MS = 5000;
/** Silence after which the event loop should have a turn. */
const TURN_MS = 50;
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
  /** Since when nothing has come; undefined after a completion. */
  #silentSince: number | undefined;

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

  /** Up to `limit` completions; none after an event without completions, or after some silence: the event loop should have a turn then. */
  next(limit: number): WorkCompletion[] {
    const channel = this.#channel;
    if (channel === undefined) return this.#poll(limit);
    const cq = attempt('Failed to get cq_event', () => this.#awaitEvent(channel));
    if (cq === undefined) return [];
    cq.ackEvents();
    attempt("Couldn't request CQ notification", () => cq.reqNotify());
    return cq.poll(limit);
  }

  get #pollsPerTurn(): number {
    return this.#host === 'thread' ? POLLS_PER_TURN.thread : POLLS_PER_TURN.inline;
  }

  #poll(limit: number): WorkCompletion[] {
    let turnAt = 0;
    for (let empty = 0; ; empty += 1) {
      for (const cq of this.#cqs) {
        const completions = cq.poll(limit);
        if (completions.length === 0) continue;
        this.#silentSince = undefined;
        return completions;
      }
      if (empty % PATIENCE === 0) {
        const now = performance.now();
        if (empty === 0) turnAt = now + TURN_MS;
        else if (empty % this.#pollsPerTurn === 0 && now > turnAt) return [];
        this.#noteSilence(now);
      }
      // An inline NIC lives from our polling. One in a thread may need the core that we hold.
      if (empty >= PATIENCE && this.#host === 'thread') Atomics.wait(idle, 0, 0, NAP_MS);
    }
  }

  #awaitEvent(channel: Pick<CompChannel, 'getCqEvent'>): Cq | undefined {
    try {
      const cq = channel.getCqEvent(TURN_MS);
      this.#silentSince = undefined;
      return cq;
    } catch (error) {
      if (!(error instanceof VerbsError && error.errno === 'ETIMEDOUT')) throw error;
      this.#noteSilence(performance.now());
      return undefined;
    }
  }

  #noteSilence(nowMs: number): void {
    this.#silentSince ??= nowMs;
    if (nowMs - this.#silentSince >= this.#silence.ms) this.#tellSilence();
  }

  /** A request to receive never times out. */
  #tellSilence(): void {
    if (this.#toldSilence) return;
    this.#toldSilence = true;
    const { ms, meaning, tell } = this.#silence;
    tell(`Nothing has come from the peer for ${ms / 1000} s; ${meaning}.\n`);
  }
}
