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

/** Walks that are all right, as short as they can be where a judge that knew less found them wrong. */
const RIGHT_WALKS = [
  {
    what: 'requests of a shared queue complete in several queues, of which one is read late',
    seed: 1126,
    only: [1, 2, 3, 4, 7, 19, 20, 27, 32, 36],
  },
  {
    what: 'a UC queue pair keeps the shared request that was too small for a message',
    seed: 2132,
    only: [1, 2, 3, 4, 5, 9, 10, 17, 21, 35, 36, 52, 56, 57, 71, 133],
  },
  {
    what: 'datagrams that look alike come doubled',
    seed: 2665,
    only: [1, 2, 3, 4, 6, 9, 13, 14, 17, 19, 21],
  },
  {
    what: 'messages of a connection that works are taken when its peer has begun anew since',
    seed: 90872,
    only: [1, 2, 5, 73, 80, 85, 86, 100],
  },
  { what: 'a queue pair is mended that has no peer', seed: 2916, only: [1, 2, 71, 255, 259] },
] as const;

describe('nothing is found wrong where', () => {
  for (const { what, seed, only } of RIGHT_WALKS) it(what, () => void runWalkSeed(seed, { only }));
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
