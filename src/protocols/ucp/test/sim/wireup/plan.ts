import type { SeededRandom } from '../../../../../device/link/index.js';
import { abortTime, type Chances } from '../chance.js';

/** A program asks for a worker by its address, though it has an endpoint to it, and closes what it gets after a while. */
export interface WireupStep {
  readonly atUs: number;
  readonly at: number;
  readonly to: number;
  readonly heldUs: number;
  readonly abortAfterUs: number;
}

export function planWireup(random: SeededRandom, { workers, count, lengthUs, aborts }: Chances): WireupStep[] {
  return Array.from({ length: count }, () => ({
    atUs: random.below(lengthUs),
    at: random.below(workers),
    to: random.below(workers),
    heldUs: random.pick([0, random.below(100), random.below(5000)]),
    abortAfterUs: abortTime(random, aborts),
  }));
}
