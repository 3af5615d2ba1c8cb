import type { SeededRandom } from '../../../../device/link/index.js';
import type { Clock } from './clock.js';
import type { Ledger } from './ledger.js';
import type { XioPlan } from './plan.js';
import type { ServedEnd } from './served-end.js';

/** What all of a run share. */
export interface World {
  readonly plan: XioPlan;
  readonly clock: Clock;
  readonly random: SeededRandom;
  /** For memory that is shared, so that runs without such are what they would be. */
  readonly directRandom: SeededRandom;
  readonly ledger: Ledger;
  /** What is to be looked at when all is over. */
  readonly accesses: (() => void)[];
  /** Servers' ends, by the names of their sessions and which server it is. */
  readonly ends: Map<string, ServedEnd>;
}
