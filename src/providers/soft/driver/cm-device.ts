import type { CmEvent } from '../../../device/cm/index.js';
import type { Gid } from '../../../device/ibta/index.js';
import { Ring } from '../../../device/nic/index.js';
import type { Life } from '../../../api/runtime/index.js';
import type { CmArgument, CmDevice, CmValue, CmVerb } from '../../../api/provider/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import { EventReader } from './completions/event-reader.js';
import { type ContextBase, refusalOf } from './context-base.js';

/** Events that one command takes: what comes in a burst crosses at once. */
const EVENTS_PER_COMMAND = 256;
const GET_EVENT = 'rdma_get_cm_event';

export class SoftCmDevice implements CmDevice {
  readonly #reader: EventReader;
  #listeners = 0;

  constructor(private readonly context: ContextBase) {
    this.#reader = new EventReader(context.adapter.cmEvents, 1, 0);
  }

  get gid(): Gid {
    return this.context.adapter.gid;
  }

  execute<V extends CmVerb>(call: string, verb: V, argument: CmArgument<V>): CmValue<V> {
    return this.context.command(call, verb, argument);
  }

  takeEvents(): readonly CmEvent[] {
    // A device that was closed writes nothing more, that it was closed included.
    this.context.requireAlive(GET_EVENT);
    const seen = this.#reader.published;
    if (seen === this.#reader.position) return [];
    const events = this.execute(GET_EVENT, 'cmTakeEvents', EVENTS_PER_COMMAND);
    const all = [...events];
    for (let more = events; more.length === EVENTS_PER_COMMAND; all.push(...more))
      more = this.execute(GET_EVENT, 'cmTakeEvents', EVENTS_PER_COMMAND);
    // Not before: where this is interrupted, there is still something to take.
    this.#reader.follow(seen);
    return all;
  }

  wait(timeoutUs: number): void {
    const { context } = this;
    context.requireAlive(GET_EVENT);
    this.requireWorking();
    try {
      context.adapter.wait(this.#reader.words, Ring.PRODUCER, this.#reader.position, timeoutUs);
    } catch (error) {
      throw refusalOf(GET_EVENT, error);
    }
  }

  listen(listener: () => void): Life {
    const { adapter, closeListeners } = this.context;
    let listens = true;
    const heard = (): void => {
      if (!listens) return;
      this.#reader.announce(true);
      listener();
    };
    const life = adapter.listen(heard);
    closeListeners.add(listener);
    this.#listeners += 1;
    this.#reader.announce(true);
    // What came before it was announced is told now.
    if (this.#reader.isBehind) queueMicrotask(heard);
    const end = (): void => {
      if (!listens) return;
      listens = false;
      this.#listeners -= 1;
      // Others may still listen.
      if (this.#listeners === 0) this.#reader.announce(false);
      closeListeners.delete(listener);
      life.end();
    };
    return { ref: () => life.ref(), unref: () => life.unref(), end };
  }

  nowUs(): number {
    return this.context.adapter.nowUs();
  }

  requireWorking(): void {
    const { failure } = this.context.adapter;
    if (failure !== undefined) throw new VerbsError(GET_EVENT, { errno: 'EIO', message: failure, advice: '' });
  }
}
