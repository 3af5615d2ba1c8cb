import { describe, it } from 'node:test';
import { describeRsocket, planRsocket } from './plan.js';
import { runRsocketSeed } from './run.js';

/** Runs that `npm test` plays; `npm run sim -- --rsocket` plays as many as one likes. */
const SEEDS = 40;
const SEEDS_PER_TEST = 20;

async function play(seed: number): Promise<void> {
  try {
    await runRsocketSeed(seed);
  } catch (error) {
    const replay = `replay: npm run sim -- --rsocket --seeds 1 --start ${seed}`;
    throw new Error(`${describeRsocket(planRsocket(seed))}\n${replay}`, { cause: error });
  }
}

describe('owners of streams of rsockets over a rough network agree with a model', () => {
  for (let first = 1; first <= SEEDS; first += SEEDS_PER_TEST)
    it(`for seeds ${first} to ${first + SEEDS_PER_TEST - 1}`, async () => {
      for (let seed = first; seed < first + SEEDS_PER_TEST; seed += 1) await play(seed);
    });
});
