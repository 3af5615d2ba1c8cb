import { describe, it } from 'node:test';
import { describeRxe, planRxe, runRxeSeed } from './rxe-run.js';
import { seedRanges } from '../support/share.js';

/** Runs that `npm test` plays; `npm run sim -- --rxe` plays as many as one likes. */
const SEEDS = 100;
const SEEDS_PER_TEST = 50;

function playAll(seeds: readonly number[]): void {
  for (const seed of seeds) {
    try {
      runRxeSeed(seed);
    } catch (error) {
      const replay = `replay: npm run sim -- --rxe --seeds 1 --start ${seed} --trace`;
      throw new Error(`${describeRxe(planRxe(seed))}\n${replay}`, { cause: error });
    }
  }
}

describe('requests to a responder that answers as Soft-RoCE does end well', () => {
  for (const { first, last, seeds } of seedRanges(SEEDS, SEEDS_PER_TEST))
    it(`for seeds ${first} to ${last}`, () => playAll(seeds));
});
