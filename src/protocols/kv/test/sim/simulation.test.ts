import { describe, it } from 'node:test';
import { describeKv, planKv } from './plan.js';
import { runKvSeed } from './run.js';
import { seedRanges } from '../../../../../test/support/share.js';

/** Runs that `npm test` plays; `npm run sim -- --kv` plays as many as one likes. */
const SEEDS = 40;
const SEEDS_PER_TEST = 20;

async function play(seed: number): Promise<void> {
  try {
    await runKvSeed(seed);
  } catch (error) {
    const replay = `replay: npm run sim -- --kv --seeds 1 --start ${seed}`;
    throw new Error(`${describeKv(planKv(seed))}\n${replay}`, { cause: error });
  }
}

describe('what programs are told that use a key-value store over a rough network has an order that explains it', () => {
  for (const { first, last, seeds } of seedRanges(SEEDS, SEEDS_PER_TEST))
    it(`for seeds ${first} to ${last}`, async () => {
      for (const seed of seeds) await play(seed);
    });
});
