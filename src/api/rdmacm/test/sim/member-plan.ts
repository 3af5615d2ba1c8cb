import type { SeededRandom } from '../../../../device/link/index.js';
import type { SidePlan } from './plan.js';

const SECOND = 1e6;
export const GROUPS = 2;

/** A group that a member is in for a while. Times count from when it has its device. */
export interface StayPlan {
  readonly group: number;
  readonly fromUs: number;
  readonly untilUs: number;
  readonly sendOnly: boolean;
}

/** A datagram to a group, if the member has learnt how to send there. */
export interface CallToAllPlan {
  readonly group: number;
  readonly atUs: number;
}

export interface MemberPlan extends SidePlan {
  readonly host: number;
  readonly startUs: number;
  /** How it gets its device: by its own address, or by that of a group. */
  readonly way: 'bind' | 'resolve';
  readonly queuePairAtUs: number;
  readonly stays: readonly StayPlan[];
  readonly callsToAll: readonly CallToAllPlan[];
}

function planStay(random: SeededRandom): StayPlan {
  const fromUs = random.chance(0.5) ? 0 : random.below(20 * SECOND);
  return {
    group: random.below(GROUPS),
    fromUs,
    untilUs: random.chance(0.5) ? Infinity : fromUs + random.below(20 * SECOND),
    sendOnly: random.chance(0.15),
  };
}

/** @param side what it has in common with all others */
export function planMember(random: SeededRandom, hosts: number, side: SidePlan): MemberPlan {
  return {
    ...side,
    destroyAfterUs: random.chance(0.2) ? random.below(30 * SECOND) : Infinity,
    host: random.below(hosts),
    startUs: random.below(SECOND),
    way: random.pick(['bind', 'resolve'] as const),
    queuePairAtUs: random.chance(0.6) ? 0 : random.below(10 * SECOND),
    stays: Array.from({ length: random.between(1, 3) }, () => planStay(random)),
    callsToAll: Array.from({ length: random.below(5) }, () => ({
      group: random.below(GROUPS),
      atUs: random.below(25 * SECOND),
    })),
  };
}
