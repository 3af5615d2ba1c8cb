import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { highWord, isAddress, isU32, isWrId, joinWords, joinWordsNumber, lowWord } from '../index.js';

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const safe = fc.maxSafeNat();

describe('the words of an address', () => {
  it('make the same bigint again', () => {
    fc.assert(fc.property(u64, (value) => joinWords(highWord(value), lowWord(value)) === value));
  });

  it('are the same for a number and its bigint', () => {
    fc.assert(
      fc.property(safe, (value) => {
        assert.equal(lowWord(value), lowWord(BigInt(value)));
        assert.equal(highWord(value), highWord(BigInt(value)));
      }),
    );
  });

  it('make the same number again', () => {
    fc.assert(fc.property(safe, (value) => joinWordsNumber(highWord(value), lowWord(value)) === value));
  });

  it('are int32, so that engines keep them small', () => {
    fc.assert(fc.property(u64, (value) => (lowWord(value) | 0) === lowWord(value)));
    assert.equal(lowWord(0xffffffff), -1);
    assert.equal(highWord(2n ** 63n), -(2 ** 31));
  });

  it('of a negative id are those of its 64-bit two’s complement', () => {
    assert.equal(joinWords(highWord(-1), lowWord(-1)), 2n ** 64n - 1n);
    assert.equal(joinWords(highWord(-5n), lowWord(-5n)), 2n ** 64n - 5n);
  });
});

describe('isAddress', () => {
  it('takes safe integers and 64-bit bigints', () => {
    for (const value of [0, 0x7fff_ffff_f000, Number.MAX_SAFE_INTEGER, 0n, 2n ** 64n - 1n]) {
      assert.ok(isAddress(value), String(value));
    }
  });

  it('takes nothing else', () => {
    for (const value of [-1, 1.5, 2 ** 53, NaN, Infinity, -1n, 2n ** 64n, '1', undefined, null]) {
      assert.ok(!isAddress(value), String(value));
    }
  });
});

describe('isWrId', () => {
  it('takes what fits into 64 bits, signed or not', () => {
    for (const value of [0, -1, -(2n ** 63n), 2n ** 64n - 1n]) assert.ok(isWrId(value), String(value));
  });

  it('takes nothing else', () => {
    for (const value of [0.5, 2 ** 53, -(2n ** 63n) - 1n, 2n ** 64n, 'x', undefined]) {
      assert.ok(!isWrId(value), String(value));
    }
  });
});

describe('isU32', () => {
  it('takes 0 to 2^32 - 1', () => assert.ok(isU32(0) && isU32(0xffffffff)));

  it('takes nothing else', () => {
    for (const value of [-1, 2 ** 32, 0.5, NaN, 1n, '1', undefined]) assert.ok(!isU32(value), String(value));
  });
});
