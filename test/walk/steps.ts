import { SeededRandom } from '../../src/device/link/index.js';
import { actions } from './actions.js';
import { characterOf } from './character.js';

/**
 * One step of a walk. All that it does follows from its own number and from what is there when its turn comes, so that
 * steps can be left out, and those that stay do what they did.
 */
export interface Step {
  readonly id: number;
  readonly kind: string;
  readonly random: number;
  /** Virtual time that passes before it. */
  readonly waitUs: number;
}

export interface Walk {
  readonly seed: number;
  readonly steps: readonly Step[];
}

const WAITS_US = [0, 0, 0, 0, 1, 3, 10, 10, 30, 100, 1000];
const HOSTS = [2, 2, 2, 2, 2, 3, 3, 4, 6];
const CROWD = 0.02;

export function planWalk(seed: number): Walk {
  const random = new SeededRandom(seed ^ 0x3a11);
  const steps: Step[] = [];
  const add = (kind: string, waitUs: number): void => {
    steps.push({ id: steps.length + 1, kind, random: random.u32(), waitUs });
  };
  const hosts = random.chance(CROWD) ? random.between(8, 32) : random.pick(HOSTS);
  for (let i = 0; i < hosts; i += 1) add('host', 0);
  const pairs = hosts > 6 ? Math.ceil(hosts / 2) : random.between(1, 3);
  for (let i = 0; i < pairs; i += 1) add('connect', 0);
  const total = random.pick([20, 40, 40, 80, 80, 150, 300]);
  // Each walk has its own favourites, so that rare things come together in some of them.
  const { upheaval } = characterOf(seed);
  const weights = actions.map(({ weight, upsets, vital }) => {
    const favour = random.pick([vital ? 1 : 0, 0.5, 1, 1, 1, 2, 4]);
    return weight * favour * (upsets ? upheaval : 1);
  });
  const calm = random.chance(0.4);
  const sum = actions.reduce((all, { fault }, i) => all + (calm && fault ? 0 : weights[i]), 0);
  for (let i = 0; i < total; i += 1) {
    let left = random.fraction() * sum;
    const chosen = actions.find(({ fault }, k) => {
      if (calm && fault) return false;
      left -= weights[k];
      return left < 0;
    });
    if (chosen !== undefined) add(chosen.kind, random.pick(WAITS_US));
  }
  return { seed, steps };
}
