import { fieldsProblem, invalid, refuse, VerbsError } from '../../verbs/index.js';
import { checkedDevices, choiceFields, type DeviceChoice } from '../addresses/devices.js';
import { EventQueue } from './event-queue.js';
import type { CmEvent } from './event.js';

const GET = 'rdma_get_cm_event';
const CREATE = 'rdma_create_event_channel';
const DESTROY = 'rdma_destroy_event_channel';

/** What `createEventChannel` can be asked for. */
export type EventChannelOptions = DeviceChoice;

/**
 * Makes an event channel (`rdma_create_event_channel`).
 *
 * @throws VerbsError EINVAL for contexts that are none, or closed
 */
export function createEventChannel(options: EventChannelOptions = {}): EventChannel {
  refuse(CREATE, fieldsProblem('options', options, choiceFields));
  return new EventChannel(checkedDevices(CREATE, options));
}

let internalsOf: (channel: EventChannel) => { readonly queue: EventQueue; readonly devices: DeviceChoice };

/** `struct rdma_event_channel`: where identifiers report what happens to them. `createEventChannel` makes one. */
export class EventChannel implements Disposable, AsyncIterable<CmEvent> {
  readonly #queue = new EventQueue();

  readonly #devices: DeviceChoice;

  static {
    internalsOf = (channel) => ({ queue: channel.#queue, devices: channel.#devices });
  }

  /** `createEventChannel` makes channels for programs. */
  constructor(devices: DeviceChoice) {
    this.#devices = devices;
  }

  /**
   * The oldest event (`rdma_get_cm_event`). Blocks the thread until there is one.
   *
   * @param timeoutMs default: for ever
   * @throws VerbsError ETIMEDOUT after that long, or when nothing can come: no identifier of the channel has a device,
   *   or in a simulation nothing is left to happen; EIO when a device has failed; EINVAL after destroy
   */
  getCmEvent(timeoutMs?: number): CmEvent {
    this.#assertAlive(GET);
    return this.#queue.take(timeoutMs);
  }

  /** As {@link getCmEvent}, but undefined when there is no event now: as with O_NONBLOCK, where C gives EAGAIN. */
  tryGetCmEvent(): CmEvent | undefined {
    this.#assertAlive(GET);
    return this.#queue.tryTake();
  }

  /**
   * The same events in the event loop, which is not blocked; each must be acknowledged, too. Keeps the process alive only
   * while awaited, and ends when the channel is destroyed.
   */
  [Symbol.asyncIterator](): AsyncIterator<CmEvent, void, undefined> {
    this.#assertAlive(GET);
    return this.#queue.iterate();
  }

  /**
   * Ends the channel (`rdma_destroy_event_channel`).
   *
   * @throws VerbsError EBUSY while identifiers report here; EINVAL when it was ended before
   */
  destroy(): void {
    this.#assertAlive(DESTROY);
    const { reporters } = this.#queue;
    if (reporters > 0) {
      const message = `${reporters} ${reporters === 1 ? 'identifier reports' : 'identifiers report'} here`;
      throw new VerbsError(DESTROY, { errno: 'EBUSY', message, advice: 'Destroy them, or migrate them, first' });
    }
    this.#queue.close();
  }

  /** Ends it, unless it was ended before. */
  [Symbol.dispose](): void {
    if (!this.#queue.closed) this.destroy();
  }

  #assertAlive(call: string): void {
    if (this.#queue.closed)
      throw new VerbsError(call, invalid('the channel was ended before', 'Nothing can be done with it after that'));
  }
}

/** Where events of a channel's identifiers go. @throws VerbsError EINVAL when it was destroyed, or is none */
export function queueOf(channel: EventChannel, call: string): EventQueue {
  if (!((channel as unknown) instanceof EventChannel))
    throw new VerbsError(call, invalid('that is no event channel', 'createEventChannel makes them'));
  const { queue } = internalsOf(channel);
  if (queue.closed) throw new VerbsError(call, invalid('the channel was ended before', 'Make another'));
  return queue;
}

/** The devices that a channel's identifiers may use. */
export function devicesOf(channel: EventChannel): DeviceChoice {
  return internalsOf(channel).devices;
}
