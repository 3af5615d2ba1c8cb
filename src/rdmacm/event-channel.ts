import type { Context } from '../verbs/index.js';
import type { CmEvent } from './event.js';
import { notYet } from './not-yet.js';

/** What `createEventChannel` can be asked for. */
export interface EventChannelOptions {
  /**
   * The devices that identifiers of this channel may use. Default: those that the program has through rdma_cm, opened
   * when they are first needed (`getDevices`).
   */
  readonly contexts?: readonly Context[];
}

/**
 * Makes an event channel (`rdma_create_event_channel`).
 *
 * @throws VerbsError EINVAL for contexts that are none, or closed
 */
export function createEventChannel(options: EventChannelOptions = {}): EventChannel {
  return new EventChannel(options);
}

/** `struct rdma_event_channel`: where identifiers report what happens to them. `createEventChannel` makes one. */
export class EventChannel implements Disposable, AsyncIterable<CmEvent> {
  constructor(readonly options: EventChannelOptions) {}

  /**
   * The oldest event (`rdma_get_cm_event`). Blocks the thread until there is one.
   *
   * @param timeoutMs default: for ever
   * @throws VerbsError ETIMEDOUT after that long, or when nothing can come: no identifier of the channel has a device,
   *   or in a simulation nothing is left to happen; EIO when a device has failed; EINVAL after destroy
   */
  getCmEvent(timeoutMs?: number): CmEvent {
    return notYet(timeoutMs);
  }

  /** As {@link getCmEvent}, but undefined when there is no event now: as with O_NONBLOCK, where C gives EAGAIN. */
  tryGetCmEvent(): CmEvent | undefined {
    return notYet();
  }

  /**
   * The same events in the event loop, which is not blocked; each must be acknowledged, too. Keeps the process alive only
   * while awaited, and ends when the channel is destroyed.
   */
  [Symbol.asyncIterator](): AsyncIterator<CmEvent, void, undefined> {
    return notYet();
  }

  /**
   * Ends the channel (`rdma_destroy_event_channel`).
   *
   * @throws VerbsError EBUSY while identifiers report here; EINVAL when it was ended before
   */
  destroy(): void {
    notYet();
  }

  /** Ends it, unless it was ended before. */
  [Symbol.dispose](): void {
    notYet();
  }
}
