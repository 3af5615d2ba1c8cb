import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runSeed } from './run.js';
import { describeScenario, planScenario } from './scenario.js';
import { seedRanges } from '../support/share.js';

/** Runs that `npm test` plays; `npm run sim` plays as many as one likes. */
const SEEDS = 200;
const SEEDS_PER_TEST = 50;

function playAll(seeds: readonly number[]): void {
  for (const seed of seeds) {
    try {
      runSeed(seed);
    } catch (error) {
      const replay = `replay: npm run sim -- --seeds 1 --start ${String(seed)} --trace`;
      throw new Error(`${describeScenario(planScenario(seed))}\n${replay}`, { cause: error });
    }
  }
}

describe('random traffic of RC, UC and UD over a rough network ends well', () => {
  for (const { first, last, seeds } of seedRanges(SEEDS, SEEDS_PER_TEST))
    it(`for seeds ${first} to ${last}`, () => playAll(seeds));
});

describe('a run', () => {
  it('is the same whenever its seed is played', () => {
    for (const seed of [3, 17, 29]) {
      const lines: string[] = [];
      const again: string[] = [];
      const figures = runSeed(seed, { trace: (line) => lines.push(line) });
      assert.deepEqual(runSeed(seed, { trace: (line) => again.push(line) }), figures);
      assert.deepEqual(again, lines);
      assert.ok(lines.length > 20);
    }
  });
});
