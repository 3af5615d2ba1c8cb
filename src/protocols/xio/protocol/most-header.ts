import { Flag, Kind, type Limits, MOST_DIRECT_BYTES, MOST_MOVE_BYTES } from '../wire/index.js';
import type { Item } from './item.js';

/** The longest header that a peer may send. @param flags of a request, or of the one that is answered */
export function mostHeader({ maxHeaderBytes }: Limits, kind: Kind, flags: number): number {
  if (kind === Kind.MOVE) return MOST_MOVE_BYTES;
  return (flags & Flag.DIRECT) === 0 ? maxHeaderBytes : MOST_DIRECT_BYTES;
}

/** Whether a peer does not take it. */
export function isTooLong({ kind, header, flags, bodyBytes }: Item, peer: Limits): boolean {
  return header.length > mostHeader(peer, kind, flags) || bodyBytes > peer.maxBodyBytes;
}
