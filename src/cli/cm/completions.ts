import { type CompChannel, type Context, type Cq, type WorkCompletion } from '../../index.js';

/** Silence after which the user is told what it may mean. */
const SILENCE_MS = 5000;
const BATCH = 16;

/** A completion queue whose completions are awaited one by one, while the event loop runs on. */
export class Completions {
  readonly cq: Cq;
  readonly #channel: CompChannel;
  readonly #events: AsyncIterator<Cq, void, undefined>;
  readonly #meaning: string | undefined;
  #toldSilence = false;
  #arrived: WorkCompletion[] = [];

  /** @param meaning what it may mean that nothing comes, as the end of a sentence; without it nothing is said */
  constructor(context: Context, cqe: number, meaning?: string) {
    this.#channel = context.createCompChannel();
    this.#events = this.#channel[Symbol.asyncIterator]();
    this.cq = context.createCq({ cqe, channel: this.#channel });
    this.#meaning = meaning;
  }

  /** The next completion, in whatever status; undefined once the queue is closed. */
  async next(): Promise<WorkCompletion | undefined> {
    for (;;) {
      const completion = this.#arrived.shift() ?? this.#poll();
      if (completion !== undefined) return completion;
      // Arm, then look once more, then wait: what completes after the arming raises an event.
      this.cq.reqNotify();
      const late = this.#poll();
      if (late !== undefined) return late;
      if (!(await this.#event())) return undefined;
      this.cq.ackEvents();
    }
  }

  /** Ends the queue, once no queue pair uses it. */
  async close(): Promise<void> {
    await this.#events.return?.();
    this.cq.destroy();
    this.#channel.destroy();
  }

  #poll(): WorkCompletion | undefined {
    this.#arrived = this.cq.poll(BATCH);
    return this.#arrived.shift();
  }

  async #event(): Promise<boolean> {
    const timer = this.#meaning === undefined || this.#toldSilence ? undefined : this.#tellLater(this.#meaning);
    try {
      const { done } = await this.#events.next();
      return done !== true;
    } finally {
      clearTimeout(timer);
    }
  }

  #tellLater(meaning: string): NodeJS.Timeout {
    return setTimeout(() => {
      this.#toldSilence = true;
      process.stderr.write(`Nothing has come from the peer for ${SILENCE_MS / 1000} s; ${meaning}.\n`);
    }, SILENCE_MS);
  }
}
