import type { PeerProblem } from '../protocol/index.js';
import { UcsStatus } from '../wire/index.js';

/** What a peer says makes no sense. */
export function lie(text: string): PeerProblem {
  return { status: UcsStatus.UCS_ERR_IO_ERROR, text };
}
