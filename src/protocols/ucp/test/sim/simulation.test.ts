import { describe, it } from 'node:test';
import { describeUcp, planUcp } from './plan.js';
import { runUcpSeed } from './run.js';
import { seedRanges } from '../../../../../test/support/share.js';

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
  for (const { first, last, seeds } of seedRanges(SEEDS, SEEDS_PER_TEST))
    it(`for seeds ${first} to ${last}`, async () => {
      for (const seed of seeds) await play(seed);
    });
});
