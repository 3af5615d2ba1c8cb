import { describePlan, planCm } from './plan.js';
import { runCmSeed } from './run.js';

/** Plays runs one after the other. @throws at the first that fails, with the way to play it again */
export function playCmSeeds(seeds: readonly number[]): void {
  for (const seed of seeds) {
    try {
      runCmSeed(seed);
    } catch (error) {
      const replay = `replay: npm run sim -- --cm --seeds 1 --start ${seed} --trace`;
      const problem = error instanceof Error ? error.message : String(error);
      throw new Error(`${describePlan(planCm(seed))}\n${problem}\n${replay}`, { cause: error });
    }
  }
}
