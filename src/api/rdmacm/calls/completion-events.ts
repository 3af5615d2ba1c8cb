import type { EventFollower, Following } from '../../runtime/index.js';
import { followCompChannel } from '../../provider/index.js';
import type { CompChannel, Context, Cq } from '../../verbs/index.js';

export interface CompletionOwner {
  /** There may be completions. */
  onEvent(): void;
  /** The device has failed: no event comes any more. */
  onFailure(error: unknown): void;
}

/** Where completion queues announce their completions: a channel, and the owner of each of its queues. */
export class CompletionEvents implements EventFollower<Cq> {
  readonly channel: CompChannel;
  readonly #owners = new Map<Cq, CompletionOwner>();
  /** Those who wait in the event loop. */
  readonly #listeners = new Set<CompletionOwner>();
  #following: Following | undefined;

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
    this.onEvent(this.channel.getCqEvent(timeoutMs));
  }

  /** Tells an owner of events from the event loop, which keeps the process alive, until {@link unlisten}. */
  listen(owner: CompletionOwner): void {
    this.#listeners.add(owner);
    if (this.#following !== undefined) return;
    this.#following = followCompChannel(this.channel, this);
    this.#following.start();
  }

  unlisten(owner: CompletionOwner): void {
    this.#listeners.delete(owner);
    if (this.#listeners.size > 0) return;
    this.#following?.stop();
    this.#following = undefined;
  }

  /** Acknowledged as soon as it is taken: nobody can end the queue in between. */
  onEvent(cq: Cq): void {
    cq.ackEvents();
    this.#owners.get(cq)?.onEvent();
  }

  /** The queues have ended with the channel: those who still wait learn that from their queue. */
  onEnd(): void {
    for (const owner of [...this.#listeners]) owner.onEvent();
  }

  onFailure(error: unknown): void {
    for (const owner of [...this.#listeners]) owner.onFailure(error);
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
