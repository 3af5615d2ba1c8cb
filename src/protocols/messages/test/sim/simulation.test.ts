import { describe, it } from 'node:test';
import { describeMessages, planMessages } from './plan.js';
import { runMessagesSeed } from './run.js';
import { seedRanges } from '../../../../../test/support/share.js';

/** Runs that `npm test` plays; `npm run sim -- --messages` plays as many as one likes. */
const SEEDS = 60;
const SEEDS_PER_TEST = 20;

async function play(seed: number): Promise<void> {
  try {
    await runMessagesSeed(seed);
  } catch (error) {
    const replay = `replay: npm run sim -- --messages --seeds 1 --start ${seed}`;
    throw new Error(`${describeMessages(planMessages(seed))}\n${replay}`, { cause: error });
  }
}

describe('programs on the engine that talk to a server over a rough network agree with a model', () => {
  for (const { first, last, seeds } of seedRanges(SEEDS, SEEDS_PER_TEST))
    it(`for seeds ${first} to ${last}`, async () => {
      for (const seed of seeds) await play(seed);
    });
});
