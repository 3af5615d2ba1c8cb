import { CompChannelRing, compChannelShape, createRing } from '../../../../device/nic/index.js';
import type { EventFollower } from '../../../../api/runtime/index.js';
import { type ChannelFollowing, followEvents, type ProvidedCompChannel } from '../../../../api/provider/index.js';
import { type Cq, type Problem, Resource } from '../../../../api/verbs/index.js';
import type { NotifyingCq, OpenDevice } from '../context-base.js';
import { EventReader } from './event-reader.js';
import { EventSource } from './event-source.js';

/** CQs that one sentence names. */
const MOST_NAMED = 4;

export class SoftCompChannel extends Resource implements ProvidedCompChannel {
  readonly handle: number;
  readonly queues = new Set<NotifyingCq>();
  protected readonly label: string;

  readonly #reader: EventReader;
  readonly #source: EventSource<Cq>;
  /** CQs whose events found no room in the ring and are due nevertheless. */
  #owed: NotifyingCq[] = [];

  constructor(readonly context: OpenDevice) {
    const memory = createRing(compChannelShape().bytes, context.hasThread);
    const handle = context.command('ibv_create_comp_channel', 'createCompChannel', memory);
    super('ibv_destroy_comp_channel', [context]);
    this.handle = handle;
    this.label = `completion channel ${handle}`;
    this.#reader = new EventReader(memory, CompChannelRing.ENTRIES, 1);
    this.#source = new EventSource<Cq>(context.adapter, this.#reader, () => this.#take(), 'ibv_get_cq_event');
    this.abandoned = () => this.#source.close();
  }

  getCqEvent(timeoutMs?: number): Cq {
    this.assertAlive('ibv_get_cq_event');
    return this.#source.take(timeoutMs, () => this.#silence());
  }

  tryGetCqEvent(): Cq | undefined {
    this.assertAlive('ibv_get_cq_event');
    return this.#source.tryTake();
  }

  [Symbol.asyncIterator](): AsyncIterator<Cq, void, undefined> {
    this.assertAlive('ibv_get_cq_event');
    return this.#source.iterate();
  }

  [followEvents](follower: EventFollower<Cq>): ChannelFollowing {
    this.assertAlive('ibv_get_cq_event');
    const reference = (isReferenced: boolean): void => this.#source.reference(isReferenced);
    return { ...this.#source.follow(follower), reference };
  }

  destroy(): void {
    this.end();
  }

  /** Why no event can come while the program's thread is blocked: nobody else can ask for one. */
  #silence(): Problem | undefined {
    const silences = [...this.queues].map((cq) => cq.silence());
    const reasons = silences.filter((silence) => silence !== undefined);
    if (reasons.length < silences.length) return undefined;
    const message =
      reasons.length === 0
        ? `no CQ was made with ${this.label}`
        : `no event can come: ${reasons.slice(0, MOST_NAMED).join(', ')}`;
    const advice = reasons.length === 0 ? 'Give the channel to createCq' : 'Ask for one by reqNotify before you wait';
    return { errno: 'EDEADLK', message, advice };
  }

  protected release(): void {
    this.context.endCommand('ibv_destroy_comp_channel', 'destroyCompChannel', this.handle);
    this.#source.close();
  }

  /** The CQ of the oldest event, which from now on waits to be acknowledged. */
  #take(): NotifyingCq | undefined {
    const cq = this.#next();
    if (cq !== undefined) cq.unacknowledged += 1;
    return cq;
  }

  #next(): NotifyingCq | undefined {
    for (;;) {
      const at = this.#reader.peek();
      if (at < 0) break;
      const cq = this.context.queues.get(this.#reader.words[at]);
      this.#reader.take();
      // A queue may have been destroyed since it raised the event.
      if (cq !== undefined) return cq;
    }
    if (this.#reader.takeOverflow()) this.#owed = [...this.queues];
    for (let cq = this.#owed.pop(); cq !== undefined; cq = this.#owed.pop()) if (!cq.destroyed) return cq;
    return undefined;
  }
}
