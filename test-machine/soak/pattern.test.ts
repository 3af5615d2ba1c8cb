import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FILLER, fill, fillerProblem, lengthOf, patternProblem, tornProblem, wordOf } from './pattern.js';

const KEY = 0x1234;
const WORDS = 64;

function round(n: number, from = 0): Int32Array {
  const words = new Int32Array(WORDS);
  fill(words, KEY, n, from);
  return words;
}

describe('the pattern of a round', () => {
  it('is found where it was put', () => {
    assert.equal(patternProblem(round(7), KEY, 7), undefined);
  });

  it('is found from any of its places on', () => {
    assert.equal(patternProblem(round(7).subarray(20), KEY, 7, 20), undefined);
  });

  for (const [what, words] of [
    ['another round', round(8)],
    ['another place of the same round', round(7, 1)],
    ['nothing', new Int32Array(WORDS)],
    ['filler', new Int32Array(WORDS).fill(FILLER)],
  ] as const)
    it(`is not taken for ${what}`, () => assert.match(patternProblem(words, KEY, 7) ?? '', /^word 0 of 64 of round 7/));

  it('misses one bit that was changed', () => {
    const words = round(7);
    words[40] ^= 1;
    assert.match(patternProblem(words, KEY, 7) ?? '', /^word 40 /);
  });
});

describe('memory beside what was allowed', () => {
  it('is right as long as it is filler', () => {
    assert.equal(fillerProblem(new Int32Array(WORDS).fill(FILLER)), undefined);
  });

  it('is not when one word was written', () => {
    const words = new Int32Array(WORDS).fill(FILLER);
    words[63] = wordOf(KEY, 0, 63);
    assert.match(fillerProblem(words) ?? '', /^word 63 /);
  });
});

describe('memory that a WRITE was on its way into', () => {
  const before = round(3);

  it('may hold a part of it, in any order', () => {
    const words = before.slice();
    for (const i of [0, 1, 30, 31]) words[i] = wordOf(KEY, 11, i);
    assert.equal(tornProblem(words, before, KEY, 11, 32), undefined);
  });

  it('may not hold anything behind its end', () => {
    const words = before.slice();
    words[32] = wordOf(KEY, 11, 32);
    assert.match(tornProblem(words, before, KEY, 11, 32) ?? '', /^word 32 /);
  });

  it('may not hold what comes from elsewhere', () => {
    const words = before.slice();
    words[5] = wordOf(KEY, 12, 5);
    assert.match(tornProblem(words, before, KEY, 11, 32) ?? '', /^word 5 /);
  });
});

it('messages have lengths from 8 bytes to the longest, whole words each', () => {
  const lengths = Array.from({ length: 2000 }, (_, n) => lengthOf(KEY, n, 65536));
  assert.ok(lengths.every((length) => length >= 8 && length <= 65536 && length % 4 === 0));
  assert.ok(lengths.some((length) => length < 64) && lengths.some((length) => length > 60_000));
});
