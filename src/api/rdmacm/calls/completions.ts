import { Waiters } from '../../runtime/index.js';
import { type CompChannel, type Context, type Cq, VerbsError, type WorkCompletion } from '../../verbs/index.js';
import { pollAwaited, providedCq, type ProvidedCq } from '../../provider/index.js';
import { dispatcherOf } from '../events/dispatcher.js';
import { CompletionEvents, type CompletionOwner, sharedCompletionEvents } from './completion-events.js';

/** What makes {@link Completions}. */
export interface CompletionsInit {
  readonly cqe: number;
  readonly cqContext: unknown;
  /** Without a channel of its own: it shares that of the device's connections. */
  readonly isShared: boolean;
}

export class Completions implements CompletionOwner {
  readonly cq: Cq;
  /** Where the queue announces its completions, where that is a channel of its own. */
  readonly channel: CompChannel | undefined;
  readonly #events: CompletionEvents;
  readonly #polled: ProvidedCq;
  readonly #waiters = new Waiters<WorkCompletion>({
    take: () => this.#poll(),
    listen: () => this.#events.listen(this),
    rest: () => this.#events.unlisten(this),
  });

  constructor(context: Context, { cqe, cqContext, isShared }: CompletionsInit) {
    this.#events = isShared ? sharedCompletionEvents(context) : new CompletionEvents(context);
    const { channel } = this.#events;
    this.channel = isShared ? undefined : channel;
    try {
      this.cq = context.createCq({ cqe, channel, cqContext });
      this.#polled = providedCq(this.cq, 'ibv_poll_cq');
    } catch (error) {
      this.channel?.destroy();
      throw error;
    }
    this.#events.add(this.cq, this);
  }

  /** The oldest completion; blocks the thread until there is one. @throws VerbsError ETIMEDOUT */
  take(timeoutMs = Infinity): WorkCompletion {
    let wc = this.#waiters.tryTake();
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
      wc = this.#waiters.tryTake();
    }
    return wc;
  }

  /** The oldest completion, in the event loop. @throws the signal's reason; VerbsError ECANCELED when the queue ends */
  async next(signal?: AbortSignal): Promise<WorkCompletion> {
    const completion = await this.#waiters.next(signal);
    if (completion !== undefined) return completion;
    const message = 'the completion queue was ended';
    throw new VerbsError('ibv_get_cq_event', { errno: 'ECANCELED', message, advice: '' });
  }

  /** @throws VerbsError EBUSY while queue pairs complete here */
  end(): void {
    this.cq[Symbol.dispose]();
    this.#events.remove(this.cq, this);
    this.channel?.[Symbol.dispose]();
    this.#waiters.close();
  }

  onEvent(): void {
    this.#waiters.serve();
  }

  onFailure(error: unknown): void {
    this.#waiters.fail(error);
  }

  /** A completion; when there is none, the next one is announced. */
  #poll(): WorkCompletion | undefined {
    const wc = this.#polled[pollAwaited]();
    if (wc !== undefined) return wc;
    this.cq.reqNotify();
    return this.#polled[pollAwaited]();
  }
}
