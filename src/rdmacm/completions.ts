import { type CompChannel, type Context, type Cq, VerbsError, type WorkCompletion } from '../verbs/index.js';

interface Waiter {
  readonly resolve: (wc: WorkCompletion) => void;
  readonly reject: (error: unknown) => void;
}

/** A completion queue with a channel of its own, and whoever waits for its completions. */
export class Completions {
  readonly channel: CompChannel;
  readonly cq: Cq;
  #waiters: Waiter[] = [];
  /** While somebody waits in the event loop. */
  #events: AsyncIterator<Cq, void, undefined> | undefined;

  constructor(context: Context, cqe: number, cqContext: unknown) {
    this.channel = context.createCompChannel();
    try {
      this.cq = context.createCq({ cqe, channel: this.channel, cqContext });
    } catch (error) {
      this.channel.destroy();
      throw error;
    }
  }

  /** The oldest completion; blocks the thread until there is one. @throws VerbsError ETIMEDOUT */
  take(timeoutMs?: number): WorkCompletion {
    for (;;) {
      const wc = this.#poll();
      if (wc !== undefined) return wc;
      this.channel.getCqEvent(timeoutMs).ackEvents();
    }
  }

  /** The oldest completion, in the event loop. @throws the signal's reason; VerbsError ECANCELED when the queue ends */
  async next(signal?: AbortSignal): Promise<WorkCompletion> {
    signal?.throwIfAborted();
    let stopListening: (() => void) | undefined;
    const completion = new Promise<WorkCompletion>((resolve, reject) => {
      const waiter = { resolve, reject };
      const abort = (): void => this.#dismiss(waiter, signal?.reason);
      signal?.addEventListener('abort', abort, { once: true });
      stopListening = () => signal?.removeEventListener('abort', abort);
      this.#waiters.push(waiter);
      if (this.#events === undefined) void this.#serve();
    });
    try {
      return await completion;
    } finally {
      stopListening?.();
    }
  }

  /** @throws VerbsError EBUSY while queue pairs complete here */
  end(): void {
    this.cq[Symbol.dispose]();
    this.channel[Symbol.dispose]();
    const message = 'the completion queue was ended';
    this.#fail(new VerbsError('ibv_get_cq_event', { errno: 'ECANCELED', message, advice: '' }));
  }

  /** A completion; when there is none, the next one is announced. */
  #poll(): WorkCompletion | undefined {
    const [wc] = this.cq.poll(1) as readonly (WorkCompletion | undefined)[];
    if (wc !== undefined) return wc;
    this.cq.reqNotify();
    return this.cq.poll(1).at(0);
  }

  /** Gives completions to those who wait, as long as anybody does. Never rejects: those who wait get the error. */
  async #serve(): Promise<void> {
    try {
      const events = this.channel[Symbol.asyncIterator]();
      this.#events = events;
      while (this.#waiters.length > 0) {
        const wc = this.#poll();
        if (wc !== undefined) this.#waiters.shift()?.resolve(wc);
        else {
          const { value } = await events.next();
          value?.ackEvents();
        }
      }
      await events.return?.();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#events = undefined;
    }
    if (this.#waiters.length > 0) void this.#serve();
  }

  #dismiss(waiter: Waiter, reason: unknown): void {
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
    waiter.reject(reason);
    // Whoever waits no longer does not keep the process alive.
    if (this.#waiters.length === 0) void this.#events?.return?.();
  }

  #fail(error: unknown): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
  }
}
