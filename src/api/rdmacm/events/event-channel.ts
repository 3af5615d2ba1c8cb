import { type Context, fieldsProblem, invalid, namesOfHolders, refuse, VerbsError } from '../../verbs/index.js';
import { checkedDevices, choiceFields, type DeviceChoice } from '../addresses/devices.js';
import { dispatcherOf } from './dispatcher.js';
import { EventQueue } from './event-queue.js';
import type { CmEvent, EventChannel } from '../objects.js';

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
  return new OwnEventChannel(checkedDevices(CREATE, options));
}

interface Internals {
  readonly queue: EventQueue;
  readonly devices: DeviceChoice;
}

let internalsOf: (channel: OwnEventChannel) => Internals;

/** A channel: a queue of events, and the devices that its identifiers may use. */
class OwnEventChannel implements EventChannel {
  readonly #queue = new EventQueue();

  readonly #devices: DeviceChoice;

  static {
    internalsOf = (channel) => ({ queue: channel.#queue, devices: channel.#devices });
  }

  /** `createEventChannel` makes channels for programs. */
  constructor(devices: DeviceChoice) {
    this.#devices = devices;
  }

  getCmEvent(timeoutMs?: number): CmEvent {
    this.#assertAlive(GET);
    return this.#queue.take(timeoutMs);
  }

  tryGetCmEvent(): CmEvent | undefined {
    this.#assertAlive(GET);
    return this.#queue.tryTake();
  }

  [Symbol.asyncIterator](): AsyncIterator<CmEvent, void, undefined> {
    this.#assertAlive(GET);
    return this.#queue.iterate();
  }

  destroy(): void {
    this.#assertAlive(DESTROY);
    const { reporters } = this.#queue;
    if (reporters.length > 0) {
      const message = `the channel is in use by ${namesOfHolders(reporters)}`;
      throw new VerbsError(DESTROY, { errno: 'EBUSY', message, advice: 'Destroy them, or migrate them, first' });
    }
    this.#queue.close();
  }

  [Symbol.dispose](): void {
    if (!this.#queue.closed) this.destroy();
  }

  #assertAlive(call: string): void {
    if (this.#queue.closed)
      throw new VerbsError(call, invalid('the channel was ended before', 'Nothing can be done with it after that'));
  }
}

/** @throws VerbsError EINVAL when it is not a channel of ours */
function internals(channel: EventChannel, call: string): Internals {
  if (channel instanceof OwnEventChannel) return internalsOf(channel);
  throw new VerbsError(call, invalid('that is not an event channel', 'createEventChannel makes them'));
}

/** Calls back whenever a channel has a new event. For a program that looks at many channels: {@link pumpEvents} adds the events. */
export function watchEvents(channel: EventChannel, onEvent: () => void): void {
  queueOf(channel, GET).watch(onEvent);
}

/** An event for a program that takes it later. */
export interface RelayedEvent extends CmEvent {
  /** The program takes it. A request no longer counts for the backlog then. */
  taken(): void;
}

/** The oldest event of a channel, to be passed on to a program; undefined when there is none now. */
export function relayEvent(channel: EventChannel): RelayedEvent | undefined {
  return queueOf(channel, GET).relay();
}

/** Adds what has happened on devices to the channels. @returns whether that was anything */
export function pumpEvents(contexts: readonly Context[]): boolean {
  let found = false;
  for (const context of contexts) if (dispatcherOf(context, GET).pump()) found = true;
  return found;
}

/** Where events of a channel's identifiers go. @throws VerbsError EINVAL when it was destroyed, or is none */
export function queueOf(channel: EventChannel, call: string): EventQueue {
  const { queue } = internals(channel, call);
  if (queue.closed) throw new VerbsError(call, invalid('the channel was ended before', 'Make another'));
  return queue;
}

/** The devices that a channel's identifiers may use. @throws VerbsError EINVAL when it is none */
export function devicesOf(channel: EventChannel, call: string): DeviceChoice {
  return internals(channel, call).devices;
}
