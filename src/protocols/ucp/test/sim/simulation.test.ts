import { describe, it } from 'node:test';
import { describeUcp, planUcp } from './plan.js';
import { runUcpSeed } from './run.js';

/** Runs that `npm test` plays; `npm run sim -- --ucp` plays as many as one likes. */
const SEEDS = 16;
const SEEDS_PER_TEST = 8;

async function play(seed: number): Promise<void> {
  try {
    await runUcpSeed(seed);
  } catch (error) {
    const replay = `replay: npm run sim -- --ucp --seeds 1 --start ${seed}`;
    throw new Error(`${describeUcp(planUcp(seed))}\n${replay}`, { cause: error });
  }
}

describe('requests of UCP of all families end once, as the models beside them say, over a rough network', () => {
  for (let first = 1; first <= SEEDS; first += SEEDS_PER_TEST)
    it(`for seeds ${first} to ${first + SEEDS_PER_TEST - 1}`, async () => {
      for (let seed = first; seed < first + SEEDS_PER_TEST; seed += 1) await play(seed);
    });
});
