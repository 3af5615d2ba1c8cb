import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Chooser, seededRandom, uniform, zeta, zipf } from '../../kv/bench/workload.js';

const SEED = Number(process.env['VERBENA_SEED'] ?? 1);
const DRAWS = 400_000;

/** How often each key was chosen. */
function countsOf(keys: number, choose: Chooser): Uint32Array {
  const counts = new Uint32Array(keys);
  for (let i = 0; i < DRAWS; i += 1) counts[choose()] += 1;
  return counts;
}

/** Whether that many of all draws are what chance makes of a probability: five deviations, once in a million. */
function assertLikely(count: number, probability: number): void {
  const expected = DRAWS * probability;
  const deviation = Math.sqrt(expected * (1 - probability));
  assert.ok(Math.abs(count - expected) <= 5 * deviation, `seed ${SEED}: ${count} of ${expected} ± ${deviation}`);
}

describe('keys chosen uniformly', () => {
  it('are each as frequent as any other', () => {
    const keys = 100;
    for (const count of countsOf(keys, uniform(keys, seededRandom(SEED)))) assertLikely(count, 1 / keys);
  });
});

describe("keys chosen by Zipf's law", () => {
  it('are as frequent as YCSB has them: the first two exactly, the others in all', () => {
    const keys = 10_000;
    const theta = 0.99;
    const counts = countsOf(keys, zipf(keys, theta, seededRandom(SEED)));
    const all = zeta(keys, theta);
    assertLikely(counts[0], 1 / all);
    assertLikely(counts[1], 1 / 2 ** theta / all);
    // Gray's method approximates the rest by a power: within some percent of the law.
    for (const [from, to] of [
      [2, 10],
      [10, 100],
      [100, 1000],
      [1000, 10_000],
    ] as const) {
      const drawn = counts.subarray(from, to).reduce((sum, count) => sum + count, 0) / DRAWS;
      const law = (zeta(to, theta) - zeta(from, theta)) / all;
      assert.ok(Math.abs(drawn / law - 1) < 0.12, `${from} to ${to}: ${drawn} of ${law}`);
    }
  });

  it('are there when there are one or two', () => {
    assert.deepEqual([...countsOf(1, zipf(1, 0.99, seededRandom(SEED)))], [DRAWS]);
    const [first, second] = countsOf(2, zipf(2, 0.99, seededRandom(SEED)));
    assert.equal(first + second, DRAWS);
    assertLikely(second, 1 / 2 ** 0.99 / zeta(2, 0.99));
  });

  it('are the same from the same seed', () => {
    const some = (): number[] => {
      const choose = zipf(1000, 0.99, seededRandom(SEED));
      return Array.from({ length: 100 }, choose);
    };
    assert.deepEqual(some(), some());
  });
});
