import { describe, it } from 'node:test';
import { describeStandIn, planStandIn, runStandInSeed } from './stand-in-run.js';
import { seedRanges } from '../support/share.js';

/** Runs that `npm test` plays; `npm run sim -- --stand-in` plays as many as one likes. */
const SEEDS = 100;
const SEEDS_PER_TEST = 50;

function playAll(seeds: readonly number[]): void {
  for (const seed of seeds) {
    try {
      runStandInSeed(seed);
    } catch (error) {
      const replay = `replay: npm run sim -- --stand-in --seeds 1 --start ${seed} --trace`;
      throw new Error(`${describeStandIn(planStandIn(seed))}\n${replay}`, { cause: error });
    }
  }
}

describe('requests to a program that stands still end well', () => {
  for (const { first, last, seeds } of seedRanges(SEEDS, SEEDS_PER_TEST))
    it(`for seeds ${first} to ${last}`, () => playAll(seeds));
});
