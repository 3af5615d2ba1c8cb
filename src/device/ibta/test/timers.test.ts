import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ackTimeoutUs, rnrTimerUs } from '../index.js';

/** The table of protocol/packets.md 1.4, in milliseconds. */
const RNR_MS =
  '655.36 0.01 0.02 0.03 0.04 0.06 0.08 0.12 0.16 0.24 0.32 0.48 0.64 0.96 1.28 1.92 2.56 3.84 5.12 7.68 10.24 15.36 ' +
  '20.48 30.72 40.96 61.44 81.92 122.88 163.84 245.76 327.68 491.52';

describe('rnrTimerUs', () => {
  RNR_MS.split(' ').forEach((ms, code) => {
    it(`gives ${ms} ms for code ${code}`, () => assert.equal(rnrTimerUs(code), Math.round(Number(ms) * 1000)));
  });
});

describe('ackTimeoutUs', () => {
  it('waits for ever at exponent 0', () => assert.equal(ackTimeoutUs(0), Infinity));

  it('doubles with each exponent, from 8.192 µs at 1', () => {
    assert.equal(ackTimeoutUs(1), 8.192);
    for (let exponent = 2; exponent <= 31; exponent += 1) {
      assert.equal(ackTimeoutUs(exponent), 2 * ackTimeoutUs(exponent - 1));
    }
  });
});
