import { type CompChannel, type Context, type Cq, VerbsError, type WorkCompletion } from '../verbs/index.js';
import { CompletionEvents, type CompletionOwner, sharedCompletionEvents } from './completion-events.js';
import { dispatcherOf } from './dispatcher.js';

interface Waiter {
  readonly resolve: (wc: WorkCompletion) => void;
  readonly reject: (error: unknown) => void;
}

/** What makes {@link Completions}. */
export interface CompletionsInit {
  /** Entries. */
  readonly cqe: number;
  /** Anything of the owner's. */
  readonly cqContext: unknown;
  /** Without a channel of its own: it shares that of the device's connections. */
  readonly isShared: boolean;
}

/** A completion queue, and whoever waits for its completions. */
export class Completions implements CompletionOwner {
  readonly cq: Cq;
  /** Where the queue announces its completions, where that is a channel of its own. */
  readonly channel: CompChannel | undefined;
  readonly #events: CompletionEvents;
  #waiters: Waiter[] = [];

  constructor(context: Context, { cqe, cqContext, isShared }: CompletionsInit) {
    this.#events = isShared ? sharedCompletionEvents(context) : new CompletionEvents(context);
    const { channel } = this.#events;
    this.channel = isShared ? undefined : channel;
    try {
      this.cq = context.createCq({ cqe, channel, cqContext });
    } catch (error) {
      this.channel?.destroy();
      throw error;
    }
    this.#events.add(this.cq, this);
  }

  /** The oldest completion; blocks the thread until there is one. @throws VerbsError ETIMEDOUT */
  take(timeoutMs = Infinity): WorkCompletion {
    let wc = this.#poll();
    if (wc !== undefined) return wc;
    const { device } = dispatcherOf(this.cq.context, 'ibv_get_cq_event');
    const startUs = device.nowUs();
    // What others' queues announce on a channel that is shared does not begin the time anew.
    for (
      let leftMs = timeoutMs;
      wc === undefined;
      leftMs = Math.max(0, timeoutMs - (device.nowUs() - startUs) / 1000)
    ) {
      this.#events.wait(leftMs);
      wc = this.#poll();
    }
    return wc;
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
      if (this.#waiters.length === 1) this.#events.listen(this);
      this.#serve();
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
    this.#events.remove(this.cq, this);
    this.channel?.[Symbol.dispose]();
    const message = 'the completion queue was ended';
    this.onFailure(new VerbsError('ibv_get_cq_event', { errno: 'ECANCELED', message, advice: '' }));
  }

  onEvent(): void {
    this.#serve();
  }

  onFailure(error: unknown): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
    this.#events.unlisten(this);
  }

  /** A completion; when there is none, the next one is announced. */
  #poll(): WorkCompletion | undefined {
    const [wc] = this.cq.poll(1) as readonly (WorkCompletion | undefined)[];
    if (wc !== undefined) return wc;
    this.cq.reqNotify();
    return this.cq.poll(1).at(0);
  }

  /** Gives completions to those who wait in the event loop. */
  #serve(): void {
    try {
      while (this.#waiters.length > 0) {
        const wc = this.#poll();
        if (wc === undefined) return;
        this.#waiters.shift()?.resolve(wc);
      }
      this.#events.unlisten(this);
    } catch (error) {
      this.onFailure(error);
    }
  }

  #dismiss(waiter: Waiter, reason: unknown): void {
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
    waiter.reject(reason);
    // Whoever waits no longer does not keep the process alive.
    if (this.#waiters.length === 0) this.#events.unlisten(this);
  }
}
