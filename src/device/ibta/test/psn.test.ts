import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { psnAdd, psnDiff, psnNext } from '../index.js';

const SPACE = 2 ** 24;
const psn = fc.integer({ min: 0, max: SPACE - 1 });
const distance = fc.integer({ min: -(2 ** 23), max: 2 ** 23 - 1 });

describe('PSN arithmetic', () => {
  it('stays within 24 bits', () => {
    fc.assert(fc.property(psn, distance, (a, n) => psnAdd(a, n) >= 0 && psnAdd(a, n) < SPACE));
  });

  it('finds back every distance that was added', () => {
    fc.assert(fc.property(psn, distance, (a, n) => psnDiff(psnAdd(a, n), a) === n));
  });

  it('undoes an addition by its negative', () => {
    fc.assert(fc.property(psn, distance, (a, n) => psnAdd(psnAdd(a, n), -n) === a));
  });

  it('is antisymmetric but at half the space', () => {
    fc.assert(
      fc.property(psn, psn, (a, b) => {
        const ahead = psnDiff(a, b);
        return ahead === -(2 ** 23) || psnDiff(b, a) === -ahead;
      }),
    );
  });

  it('agrees with the definition: ahead up to 0x7fffff, behind from 0x800000', () => {
    fc.assert(
      fc.property(psn, psn, (a, b) => {
        const d = (((a - b) % SPACE) + SPACE) % SPACE;
        return Math.sign(psnDiff(a, b)) === (d === 0 ? 0 : d <= 0x7fffff ? 1 : -1);
      }),
    );
  });

  it('goes from the last PSN to the first', () => {
    assert.equal(psnNext(0xffffff), 0);
    assert.equal(psnAdd(0xfffffe, 4), 2);
    assert.equal(psnDiff(1, 0xffffff), 2);
    assert.equal(psnDiff(0xffffff, 1), -2);
  });

  it('counts half the space as behind', () => assert.equal(psnDiff(0x800000, 0), -0x800000));
});
