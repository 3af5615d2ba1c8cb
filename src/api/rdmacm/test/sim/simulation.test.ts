import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runCmSeed } from './run.js';
import { playCmSeeds } from './seeds.js';
import { seedRanges } from '../../../../../test/support/share.js';

/** Runs that `npm test` plays; `npm run sim -- --cm` plays as many as one likes. */
const SEEDS = 600;
const SEEDS_PER_TEST = 100;

describe('identifiers on hosts that come and go tell what has happened to them', () => {
  for (const { first, last, seeds } of seedRanges(SEEDS, SEEDS_PER_TEST))
    it(`for seeds ${first} to ${last}`, () => playCmSeeds(seeds));
});

describe('a run of the connection manager', () => {
  it('is the same whenever its seed is played', () => {
    for (const seed of [3, 17, 29]) {
      const lines: string[] = [];
      const again: string[] = [];
      const figures = runCmSeed(seed, { trace: (line) => lines.push(line) });
      assert.deepEqual(runCmSeed(seed, { trace: (line) => again.push(line) }), figures);
      assert.deepEqual(again, lines);
      assert.ok(lines.length > 20);
    }
  });
});
