import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seedRanges, seedsOf, shareOf } from '../support/share.js';

describe('the shares of a long test', () => {
  it('are together all of it, each part once', () => {
    for (const count of [0, 1, 2, 3, 7, 60]) {
      const all = seedsOf(count, 'all');
      assert.deepEqual([...seedsOf(count, 'first'), ...seedsOf(count, 'rest')], all);
      const cases = all.map((seed) => `case ${seed}`);
      assert.deepEqual(new Set([...shareOf(cases, 'first'), ...shareOf(cases, 'rest')]), new Set(cases));
      assert.equal(shareOf(cases, 'first').length + shareOf(cases, 'rest').length, count);
    }
  });

  it('are a third, rounded up, and the rest', () => {
    assert.deepEqual(
      [3, 4, 60].map((count) => seedsOf(count, 'first').length),
      [1, 2, 20],
    );
  });

  it('come in ranges that name their ends', () => {
    assert.deepEqual(
      seedRanges(40, 10, 'rest').map(({ first, last, seeds }) => [first, last, seeds.length]),
      [
        [15, 24, 10],
        [25, 34, 10],
        [35, 40, 6],
      ],
    );
  });
});
