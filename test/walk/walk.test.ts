import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runWalk, runWalkSeed } from './run.js';
import { shrink } from './shrink.js';
import { planWalk } from './steps.js';

/** Walks that `npm test` takes; `npm run sim -- --walk` takes as many as one likes. */
const SEEDS = 6;

describe('verbs called at random, rightly and wrongly, do as the model says', () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) it(`on walk ${String(seed)}`, () => void runWalkSeed(seed));
});

describe('a walk', () => {
  it('is the same whenever its seed is played', () => {
    const play = (): string[] => {
      const lines: string[] = [];
      runWalkSeed(5, { trace: (line) => lines.push(line) });
      return lines;
    };
    assert.deepEqual(play(), play());
  });

  it('goes on when steps are left out', () => {
    const { seed, steps } = planWalk(9);
    const fewer = steps.filter(({ id }) => id % 3 !== 0);
    assert.equal(runWalk({ seed, steps: fewer }).counts['steps'], fewer.length);
  });

  it('shrinks to the steps that a failure needs', () => {
    const walk = planWalk(3);
    const needed = [4, 11];
    const { walk: least } = shrink(
      walk,
      'wrong at step 11',
      ({ steps }) => (needed.every((id) => steps.some((step) => step.id === id)) ? 'wrong at step 11' : undefined),
      { maxRuns: 1000, maxMs: Infinity },
    );
    assert.deepEqual(
      least.steps.map(({ id }) => id),
      needed,
    );
  });
});
