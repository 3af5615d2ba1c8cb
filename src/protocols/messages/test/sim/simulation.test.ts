import { describe, it } from 'node:test';
import { describeMessages, planMessages } from './plan.js';
import { runMessagesSeed } from './run.js';

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
  for (let first = 1; first <= SEEDS; first += SEEDS_PER_TEST)
    it(`for seeds ${first} to ${first + SEEDS_PER_TEST - 1}`, async () => {
      for (let seed = first; seed < first + SEEDS_PER_TEST; seed += 1) await play(seed);
    });
});
