import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runCmSeed } from './run.js';
import { playCmSeeds } from './seeds.js';

/** Runs that `npm test` plays; `npm run sim -- --cm` plays as many as one likes. */
const SEEDS = 600;
const SEEDS_PER_TEST = 100;

describe('identifiers on hosts that come and go tell what has happened to them', () => {
  for (let first = 1; first <= SEEDS; first += SEEDS_PER_TEST)
    it(`for seeds ${first} to ${first + SEEDS_PER_TEST - 1}`, () => playCmSeeds(first, SEEDS_PER_TEST));
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
