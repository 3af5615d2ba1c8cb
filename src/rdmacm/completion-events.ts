import type { CompChannel, Context, Cq } from '../verbs/index.js';

/** Who is told that a queue has completions. */
export interface CompletionOwner {
  /** There may be completions. */
  onEvent(): void;
  /** The device has failed: no event comes any more. */
  onFailure(error: unknown): void;
}

/** Where completion queues announce their completions: a channel, and whose each of its queues is. */
export class CompletionEvents {
  readonly channel: CompChannel;
  readonly #owners = new Map<Cq, CompletionOwner>();
  /** Those who wait in the event loop. */
  readonly #listeners = new Set<CompletionOwner>();
  #events: AsyncIterator<Cq, void, undefined> | undefined;

  constructor(context: Context) {
    this.channel = context.createCompChannel();
  }

  add(cq: Cq, owner: CompletionOwner): void {
    this.#owners.set(cq, owner);
  }

  remove(cq: Cq, owner: CompletionOwner): void {
    this.unlisten(owner);
    this.#owners.delete(cq);
  }

  /** Blocks the thread until one of the queues has announced something, which its owner is told. @throws VerbsError ETIMEDOUT */
  wait(timeoutMs?: number): void {
    this.#give(this.channel.getCqEvent(timeoutMs));
  }

  /** Tells an owner of events from the event loop, which keeps the process alive, until {@link unlisten}. */
  listen(owner: CompletionOwner): void {
    this.#listeners.add(owner);
    if (this.#events === undefined) void this.#follow();
  }

  unlisten(owner: CompletionOwner): void {
    this.#listeners.delete(owner);
    if (this.#listeners.size > 0) return;
    void this.#events?.return?.();
    this.#events = undefined;
  }

  #give(cq: Cq): void {
    cq.ackEvents();
    this.#owners.get(cq)?.onEvent();
  }

  /** Never rejects: those who wait get the error. */
  async #follow(): Promise<void> {
    let events: AsyncIterator<Cq, void, undefined> | undefined;
    try {
      events = this.channel[Symbol.asyncIterator]();
      this.#events = events;
      for (let next = await events.next(); next.done !== true; next = await events.next()) this.#give(next.value);
      if (this.#events !== events) return;
      // The channel was ended, and its queues with it: whoever still waits learns that from its queue.
      this.#events = undefined;
      for (const owner of [...this.#listeners]) owner.onEvent();
    } catch (error) {
      if (this.#events === events) this.#events = undefined;
      for (const owner of [...this.#listeners]) owner.onFailure(error);
    }
  }
}

const shared = new WeakMap<Context, CompletionEvents>();

/** The one channel that the connections of a device share: a channel costs more than the queues of a connection. */
export function sharedCompletionEvents(context: Context): CompletionEvents {
  let events = shared.get(context);
  if (events === undefined) {
    events = new CompletionEvents(context);
    shared.set(context, events);
  }
  return events;
}
