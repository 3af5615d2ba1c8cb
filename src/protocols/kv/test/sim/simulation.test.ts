import { describe, it } from 'node:test';
import { describeKv, planKv } from './plan.js';
import { runKvSeed } from './run.js';

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
  for (let first = 1; first <= SEEDS; first += SEEDS_PER_TEST)
    it(`for seeds ${first} to ${first + SEEDS_PER_TEST - 1}`, async () => {
      for (let seed = first; seed < first + SEEDS_PER_TEST; seed += 1) await play(seed);
    });
});
