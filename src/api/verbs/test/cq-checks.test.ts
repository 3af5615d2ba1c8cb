import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cqeProblem, cqFlagsProblem, moderationProblem } from '../index.js';
import { CreateCqAttrFlags, WC_STANDARD_FLAGS, WcExFlags } from '../../../device/ibta/index.js';

describe('the size of a CQ', () => {
  it('runs from 1 to the device’s largest', () => {
    assert.equal(cqeProblem(1, 10), undefined);
    assert.equal(cqeProblem(10, 10), undefined);
    for (const cqe of [0, 11, 1.5, -1, NaN]) assert.equal(cqeProblem(cqe, 10)?.errno, 'EINVAL', String(cqe));
  });
});

describe('fields and flags of an extended CQ (man ibv_create_cq_ex)', () => {
  it('can be all that the device has', () => {
    const wcFlags =
      WC_STANDARD_FLAGS | WcExFlags.WITH_COMPLETION_TIMESTAMP | WcExFlags.WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
    const flags = CreateCqAttrFlags.SINGLE_THREADED | CreateCqAttrFlags.IGNORE_OVERRUN;
    assert.equal(cqFlagsProblem(wcFlags, flags), undefined);
  });

  it('can be none', () => assert.equal(cqFlagsProblem(0, 0), undefined));

  for (const field of ['WITH_CVLAN', 'WITH_FLOW_TAG', 'WITH_TM_INFO'] as const) {
    it(`cannot be ${field}, which the device does not have`, () => {
      const problem = cqFlagsProblem(WC_STANDARD_FLAGS | WcExFlags[field], 0);
      assert.deepEqual([problem?.errno, problem?.message.includes(field)], ['EOPNOTSUPP', true]);
    });
  }

  const bad: readonly [what: string, wcFlags: unknown, flags: unknown][] = [
    ['fields that do not exist', 1 << 12, 0],
    ['flags that do not exist', 0, 4],
    ['fields that are no number', 'all', 0],
    ['negative flags', 0, -1],
  ];
  for (const [what, wcFlags, flags] of bad) {
    it(`cannot be ${what}`, () => assert.equal(cqFlagsProblem(wcFlags, flags)?.errno, 'EINVAL'));
  }
});

describe('moderation of a CQ (man ibv_modify_cq)', () => {
  const caps = { maxCqCount: 100, maxCqPeriod: 1000 };

  it('can be none, or the device’s largest', () => {
    assert.equal(moderationProblem({ cqCount: 0, cqPeriod: 0 }, caps), undefined);
    assert.equal(moderationProblem({ cqCount: 100, cqPeriod: 1000 }, caps), undefined);
  });

  const bad: readonly [what: string, moderate: unknown, sentence: RegExp][] = [
    ['nothing at all', undefined, /moderate is missing/],
    ['more completions than the device counts', { cqCount: 101, cqPeriod: 0 }, /cqCount is 101/],
    ['a longer wait than the device makes', { cqCount: 1, cqPeriod: 1001 }, /cqPeriod is 1001/],
    ['without its period', { cqCount: 1 }, /cqPeriod is missing/],
    ['fractions', { cqCount: 0.5, cqPeriod: 0 }, /cqCount is 0\.5/],
  ];
  for (const [what, moderate, sentence] of bad) {
    it(`cannot be ${what}`, () => {
      const problem = moderationProblem(moderate, caps);
      assert.equal(problem?.errno, 'EINVAL');
      assert.match(problem.message, sentence);
    });
  }
});
