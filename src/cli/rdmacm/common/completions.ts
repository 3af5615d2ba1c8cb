import type { CompChannel, Context, Cq, WorkCompletion } from '../../../entry/index.js';
import { toldIfSilent } from './silence.js';

const BATCH = 16;

/** A completion queue whose completions are awaited one by one, while the event loop runs on. */
export class Completions {
  readonly cq: Cq;
  readonly #channel: CompChannel;
  readonly #events: AsyncIterator<Cq, void, undefined>;
  #meaning: string | undefined;
  #arrived: WorkCompletion[] = [];
  #waiting: Promise<boolean> | undefined;

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
      this.#waiting = this.#event();
      if (!(await this.#waiting)) return undefined;
    }
  }

  /** Ends the queue, once no queue pair uses it. */
  async close(): Promise<void> {
    await this.#events.return?.();
    // An event that came just before is acknowledged first, or the queue could not be destroyed.
    await this.#waiting;
    this.cq.destroy();
    this.#channel.destroy();
  }

  #poll(): WorkCompletion | undefined {
    this.#arrived = this.cq.poll(BATCH);
    return this.#arrived.shift();
  }

  async #event(): Promise<boolean> {
    const event = this.#events.next();
    const { done } = await (this.#meaning === undefined ? event : toldIfSilent(event, this.#meaning, this.#once));
    if (done === true) return false;
    this.cq.ackEvents();
    return true;
  }

  readonly #once = {
    tell: (text: string): void => {
      this.#meaning = undefined;
      process.stderr.write(text);
    },
  };
}
