import type { Kind } from '../wire/index.js';

/** What has come of the peer's, and is to be answered or let go of. */
export interface Served {
  readonly kind: Kind;
  readonly bytes: number;
  readonly wantsReceipt: boolean;
  readonly maxResponseBytes: number;
  hasReleased: boolean;
}
