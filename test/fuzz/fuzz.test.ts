import { describe, it } from 'node:test';
import { Fuzz } from './fuzz.js';
import { seedsOf } from '../support/share.js';

/** What `npm test` plays; `npm run fuzz` plays as many as one likes. */
const PACKETS = 50_000;
const SEEDS = 4;

describe('hostile packets at QPs of every type and state change nothing that they may not', () => {
  for (const seed of seedsOf(SEEDS)) {
    it(`for seed ${String(seed)}`, () => {
      try {
        new Fuzz(seed).run(PACKETS);
      } catch (error) {
        throw new Error(`replay: npm run fuzz -- --seed ${String(seed)} --packets ${String(PACKETS)}`, {
          cause: error,
        });
      }
    });
  }
});
