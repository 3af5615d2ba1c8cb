import type { BareInterface, Memory, PackedRkey } from '../../../../protocols/ucp/bare/index.js';
import type { Plan } from '../plan.js';
import type { UctTest } from '../tests.js';
import type { Link } from './link.js';

/** What a side of a test of UCT has to play with. */
export interface UctSide {
  readonly plan: Plan;
  readonly test: UctTest;
  readonly isClient: boolean;
  readonly own: BareInterface;
  /** Goes to the other side. */
  readonly out: Link;
  /** What is sent: as many bytes as a message has, from the beginning of {@link source}. */
  readonly data: Uint8Array;
  readonly source: Memory;
  /** What is read into, and what the other side reaches. */
  readonly memory: Memory;
  /** The other side's memory. */
  readonly theirs: PackedRkey;
}
