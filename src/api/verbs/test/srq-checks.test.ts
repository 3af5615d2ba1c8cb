import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { completeSrqInit, srqInitProblem, srqModifyProblem } from '../index.js';
import { SrqType } from '../../../device/ibta/index.js';

const device = { maxSrqWr: 100, maxSrqSge: 4 };
type Init = Parameters<typeof srqInitProblem>[0];

describe('a shared receive queue (protocol/services.md 3.4)', () => {
  it('has defaults for what is absent', () => {
    assert.deepEqual(completeSrqInit({ maxWr: 5 }), { srqType: SrqType.BASIC, maxWr: 5, maxSge: 1, srqLimit: 0 });
  });

  const good: readonly [what: string, init: Init][] = [
    ['as small as can be', { maxWr: 1, maxSge: 0 }],
    ['the device’s largest', { maxWr: 100, maxSge: 4, srqLimit: 100 }],
    ['of type XRC with its domain and CQ', { srqType: SrqType.XRC, maxWr: 1, xrcd: {}, cq: {} }],
  ];
  for (const [what, init] of good) {
    it(`can be ${what}`, () => assert.equal(srqInitProblem(init, device), undefined));
  }

  const bad: readonly [what: string, init: Init, errno: string, sentence: RegExp][] = [
    ['without a size', {}, 'EINVAL', /maxWr is missing/],
    ['of size 0', { maxWr: 0 }, 'EINVAL', /maxWr is 0/],
    ['larger than the device takes', { maxWr: 101 }, 'EINVAL', /maxWr is 101/],
    ['of more pieces than the device takes', { maxWr: 1, maxSge: 5 }, 'EINVAL', /maxSge is 5/],
    ['with a limit above its size', { maxWr: 5, srqLimit: 6 }, 'EINVAL', /srqLimit is 6/],
    ['with a negative limit', { maxWr: 5, srqLimit: -1 }, 'EINVAL', /srqLimit is -1/],
    ['of a type that does not exist', { srqType: 3, maxWr: 1 }, 'EINVAL', /srqType is 3/],
    ['with tag matching', { srqType: SrqType.TM, maxWr: 1 }, 'EOPNOTSUPP', /tag matching/],
    ['of type XRC without a domain', { srqType: SrqType.XRC, maxWr: 1, cq: {} }, 'EINVAL', /xrcd is missing/],
    ['of type XRC without a CQ', { srqType: SrqType.XRC, maxWr: 1, xrcd: {} }, 'EINVAL', /cq is missing/],
    ['of type BASIC with a domain', { maxWr: 1, xrcd: {} }, 'EINVAL', /xrcd is given/],
    ['of type BASIC with a CQ', { maxWr: 1, cq: {} }, 'EINVAL', /cq is given/],
  ];
  for (const [what, init, errno, sentence] of bad) {
    it(`cannot be ${what}`, () => {
      const problem = srqInitProblem(init, device);
      assert.equal(problem?.errno, errno);
      assert.match(problem.message, sentence);
    });
  }
});

describe('a change of a shared receive queue', () => {
  it('can be of size, of limit, of both, or of nothing', () => {
    for (const attr of [{ maxWr: 100 }, { srqLimit: 10 }, { maxWr: 20, srqLimit: 20 }, {}]) {
      assert.equal(srqModifyProblem(attr, 10, device), undefined);
    }
  });

  it('measures the limit by the new size', () => {
    assert.equal(srqModifyProblem({ maxWr: 5, srqLimit: 6 }, 10, device)?.errno, 'EINVAL');
    assert.equal(srqModifyProblem({ srqLimit: 11 }, 10, device)?.errno, 'EINVAL');
  });

  it('cannot go beyond the device, or down to nothing', () => {
    for (const maxWr of [0, 101, -1, 1.5]) {
      assert.equal(srqModifyProblem({ maxWr }, 10, device)?.errno, 'EINVAL', String(maxWr));
    }
  });

  it('cannot be of what a queue does not have', () => {
    const misspelt: Record<string, number> = { limit: 1 };
    assert.match(srqModifyProblem(misspelt, 10, device)?.message ?? '', /there is no 'limit' in attr/);
  });
});
