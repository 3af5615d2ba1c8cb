import type { SeededRandom } from '../../../../device/link/index.js';
import type { Clock } from './clock.js';
import type { Ledger } from './ledger.js';
import type { XioPlan } from './plan.js';
import type { ServedEnd } from './served-end.js';

export interface World {
  readonly plan: XioPlan;
  readonly clock: Clock;
  readonly random: SeededRandom;
  /** For memory that is shared, so that runs without such are what they would be. */
  readonly directRandom: SeededRandom;
  readonly ledger: Ledger;
  /** What is to be looked at when all is over. */
  readonly accesses: (() => void)[];
  readonly ends: Map<string, ServedEnd>;
}
