import { SipHash } from '../store/index.js';

// The immediate data of a request that is written into a slot (docs/protocol.md 6.6).

const SLOT_BITS = 10;
const SLOT_MASK = (1 << SLOT_BITS) - 1;
const CHECK = new SipHash(0n);

/** Names the slot, and tells the request from what was there before it, and will be after it. */
export function immediateOf(slot: number, request: Uint8Array): number {
  CHECK.of(request, 0, request.length);
  return ((CHECK.low << SLOT_BITS) | slot) >>> 0;
}

export function slotIn(immediate: number): number {
  return immediate & SLOT_MASK;
}

/** Whether that is the request that was announced. */
export function isAnnounced(immediate: number, request: Uint8Array): boolean {
  return immediateOf(slotIn(immediate), request) === immediate;
}
