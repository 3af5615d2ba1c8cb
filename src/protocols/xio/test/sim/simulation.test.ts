import { describe, it } from 'node:test';
import { describeXio, planXio } from './plan.js';
import { runXioSeed } from './run.js';
import { seedRanges } from '../../../../../test/support/share.js';

/** Runs that `npm test` plays; `npm run sim -- --xio` plays as many as one likes. */
const SEEDS = 400;
const SEEDS_PER_TEST = 100;

function play(seed: number): void {
  try {
    runXioSeed(seed);
  } catch (error) {
    const replay = `replay: npm run sim -- --xio --seeds 1 --start ${seed}`;
    throw new Error(`${describeXio(planXio(seed))}\n${replay}`, { cause: error });
  }
}

describe('requests of xio are executed once at most, and each is answered or fails, whatever happens to links and servers', () => {
  for (const { first, last, seeds } of seedRanges(SEEDS, SEEDS_PER_TEST))
    it(`for seeds ${first} to ${last}`, () => {
      for (const seed of seeds) play(seed);
    });
});
