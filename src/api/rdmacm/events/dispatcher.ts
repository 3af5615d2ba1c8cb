import type { CmEvent as CmDeviceEvent } from '../../../device/cm/index.js';
import { type CmDevice, cmDeviceOf } from '../../provider/index.js';
import { type Life, SharedLife } from '../../runtime/index.js';
import { type Context, VerbsError } from '../../verbs/index.js';

/** Whom events of a device are about. */
export interface EventTarget {
  onDeviceEvent(event: CmDeviceEvent, from: Dispatcher): void;
  /** The device is gone, and nothing can be told it any more. */
  onDeviceLost(reason: VerbsError, from: Dispatcher): void;
}

const CALL = 'rdma_get_cm_event';

const dispatchers = new WeakMap<CmDevice, Dispatcher>();

/** The one dispatcher of a device. @throws VerbsError EINVAL for a context that is none of ours, or closed */
export function dispatcherOf(context: Context, call: string): Dispatcher {
  const device = cmDeviceOf(context, call);
  let dispatcher = dispatchers.get(device);
  if (dispatcher === undefined) {
    dispatcher = new Dispatcher(context, device);
    dispatchers.set(device, dispatcher);
  }
  return dispatcher;
}

/**
 * Takes the events of a device and gives each to the identifier that it is about. There is one for a device, since an
 * event can be taken only once, and identifiers of one device may report to several channels.
 */
export class Dispatcher {
  readonly #targets = new Map<number, EventTarget>();
  /** Shared by the channels that wait in the event loop. */
  readonly #listening = new SharedLife(() => this.#listen());
  #life: Life | undefined;
  #lost: VerbsError | undefined;

  constructor(
    readonly context: Context,
    readonly device: CmDevice,
  ) {}

  /** Why the device is gone, or undefined while it is not. */
  get lost(): VerbsError | undefined {
    return this.#lost;
  }

  /** Has events about the identifier of that number go to `target`. */
  add(number: number, target: EventTarget): void {
    this.#targets.set(number, target);
  }

  /** Ends the identifier of that number. A device that is gone has none any more. */
  end(number: number): void {
    this.#targets.delete(number);
    this.#tell('rdma_destroy_id', 'cmDestroyId', number);
  }

  /** The program has taken the request that the identifier of that number stands for, if that was not ended before. */
  taken(number: number): void {
    if (this.#targets.has(number)) this.#tell(CALL, 'cmTaken', number);
  }

  /** Gives out what has happened since. @returns whether that was anything */
  pump(): boolean {
    if (this.#lost !== undefined) return false;
    let events: readonly CmDeviceEvent[];
    try {
      events = this.device.takeEvents();
    } catch (error) {
      this.#lose(error);
      return true;
    }
    for (const event of events) this.#give(event);
    return events.length > 0;
  }

  /**
   * Blocks until there may be events, at most for `timeoutUs`.
   *
   * @throws VerbsError ETIMEDOUT when nothing can come any more, as in a simulation where nothing is left to happen
   */
  wait(timeoutUs: number): void {
    if (this.#lost !== undefined) return;
    try {
      this.device.wait(timeoutUs);
    } catch (error) {
      if (error instanceof VerbsError && error.errno === 'ETIMEDOUT') throw error;
      this.#lose(error);
    }
  }

  /** Pumps from the event loop whenever there may be events, which keeps the process alive, until what is returned ends. */
  listen(): Life {
    return this.#listening.share();
  }

  #tell(call: string, verb: 'cmDestroyId' | 'cmTaken', number: number): void {
    if (this.#lost !== undefined) return;
    try {
      this.device.execute(call, verb, number);
    } catch (error) {
      this.#lose(error);
    }
  }

  #listen(): Life {
    if (this.#lost === undefined) return (this.#life = this.device.listen(() => this.#onAnnounced()));
    return { ref: () => undefined, unref: () => undefined, end: () => undefined };
  }

  #give(event: CmDeviceEvent): void {
    const target = this.#targets.get(event.request?.listenId ?? event.id);
    if (target !== undefined) target.onDeviceEvent(event, this);
    // The listener was destroyed while the request was on its way here: nobody else will answer it.
    else if (event.request !== undefined) this.end(event.id);
  }

  #onAnnounced(): void {
    // A device that has died announces nothing but itself. A simulated one dies with its host, and the programs there hear nothing.
    if (this.pump() || this.context.host === 'simulated') return;
    try {
      this.device.requireWorking();
    } catch (error) {
      this.#lose(error);
    }
  }

  #lose(error: unknown): void {
    if (!(error instanceof VerbsError)) throw error;
    const message = `the device at ${this.context.address} is gone: ${error.message}`;
    this.#lost = new VerbsError(CALL, { errno: 'EIO', message, advice: '' }, { cause: error });
    this.#life?.end();
    const targets = [...this.#targets.values()];
    this.#targets.clear();
    for (const target of targets) target.onDeviceLost(this.#lost, this);
  }
}
