import type { CmEvent, EventChannel } from '../../../entry/index.js';

/**
 * Hands the events of a channel to `take` one by one, until the channel is destroyed. Each is acknowledged first, so that
 * `take` may destroy whom it happened to.
 */
export async function pumpEvents(channel: EventChannel, take: (event: CmEvent) => void): Promise<void> {
  for await (const event of channel) {
    event.ack();
    take(event);
  }
}
