import { describe, it } from 'node:test';
import { describeRsocket, planRsocket } from './plan.js';
import { runRsocketSeed } from './run.js';
import { seedRanges } from '../../../../../test/support/share.js';

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
  for (const { first, last, seeds } of seedRanges(SEEDS, SEEDS_PER_TEST))
    it(`for seeds ${first} to ${last}`, async () => {
      for (const seed of seeds) await play(seed);
    });
});
