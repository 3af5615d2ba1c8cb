import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mbpsToRate, multToRate, nameOf, Rate, rateToMbps, rateToMult } from '../index.js';

const rates = Object.values(Rate).filter((rate) => rate !== Rate.RATE_MAX);

describe('a rate', () => {
  const known: readonly [rate: Rate, mbps: number, mult: number][] = [
    [Rate.RATE_2_5_GBPS, 2500, 1],
    [Rate.RATE_28_GBPS, 28125, 11],
    [Rate.RATE_100_GBPS, 103125, -1],
    [Rate.RATE_400_GBPS, 425000, 160],
    [Rate.RATE_1200_GBPS, 1275000, 480],
  ];
  for (const [rate, mbps, mult] of known) {
    it(`of ${nameOf(Rate, rate)} is what libibverbs says`, () => {
      assert.deepEqual([rateToMbps(rate), rateToMult(rate)], [mbps, mult]);
    });
  }

  it('comes back from its Mbit/s', () => {
    for (const rate of rates) assert.equal(mbpsToRate(rateToMbps(rate)), rate, nameOf(Rate, rate));
  });

  it('comes back from its multiple, where it has one', () => {
    for (const rate of rates) {
      if (rateToMult(rate) > 0) assert.equal(multToRate(rateToMult(rate)), rate, nameOf(Rate, rate));
    }
  });

  it('has Mbit/s near its name', () => {
    for (const rate of rates) {
      const gigabits = Number(nameOf(Rate, rate).slice(5, -5).replace('_', '.'));
      const error = Math.abs(rateToMbps(rate) / 1000 / gigabits - 1);
      assert.ok(error < 0.07, nameOf(Rate, rate));
    }
  });

  it('is -1 in numbers when it is none or has no limit', () => {
    assert.deepEqual(
      [rateToMbps(Rate.RATE_MAX), rateToMult(Rate.RATE_MAX), rateToMbps(1), rateToMult(99)],
      [-1, -1, -1, -1],
    );
  });

  it('is RATE_MAX for numbers that are no rate', () => {
    assert.deepEqual([mbpsToRate(1), mbpsToRate(-1), multToRate(3)], [0, 0, 0]);
  });
});
