import { describe, it } from 'node:test';
import { describeDeviceMemory, planDeviceMemory } from './device-memory/plan.js';
import { runDeviceMemorySeed } from './device-memory/run.js';
import { seedRanges } from '../support/share.js';

/** Runs that `npm test` plays; `npm run sim -- --device-memory` plays as many as one likes. */
const SEEDS = 60;
const SEEDS_PER_TEST = 20;

function play(seed: number): void {
  try {
    runDeviceMemorySeed(seed);
  } catch (error) {
    const replay = `replay: npm run sim -- --device-memory --seeds 1 --start ${seed}`;
    throw new Error(`${describeDeviceMemory(planDeviceMemory(seed))}\n${replay}`, { cause: error });
  }
}

describe('memory of devices that are late and fail agrees with a model', () => {
  for (const { first, last, seeds } of seedRanges(SEEDS, SEEDS_PER_TEST))
    it(`for seeds ${first} to ${last}`, () => {
      for (const seed of seeds) play(seed);
    });
});
