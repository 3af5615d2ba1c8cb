import { describe, it } from 'node:test';
import { runLiesSeed } from './rsocket/run.js';
import { seedsOf } from '../support/share.js';

/** Runs that `npm test` plays; `npm run sim -- --rsocket-lies` plays as many as one likes. */
const SEEDS = 60;

describe('a peer that lies to a stream', () => {
  it('ends no other stream, and leaves nothing behind', async () => {
    for (const seed of seedsOf(SEEDS))
      try {
        await runLiesSeed(seed);
      } catch (error) {
        throw new Error(`replay: npm run sim -- --rsocket-lies --seeds 1 --start ${seed}`, { cause: error });
      }
  });
});
