import type { EventType } from '../../../device/ibta/index.js';
import { eventTypeStr } from './strings.js';

/** The fields of an asynchronous event that say what happened. */
export interface ExplainableEvent {
  readonly eventType: EventType;
  readonly vendorErr?: number;
}

/** What an event says on any device. Only the provider knows what `vendorErr` means. */
export function explainEvent({ eventType, vendorErr }: ExplainableEvent): string {
  const text = eventTypeStr(eventType);
  return vendorErr === undefined ? text : `${text} (vendor error ${vendorErr})`;
}
