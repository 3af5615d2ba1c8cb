import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Timestamps } from '../pingpong/loop/timestamps.js';

test('the time from one completion to the next has a greatest, a least and a mean', () => {
  const timestamps = new Timestamps(0xffffn);
  for (const at of [100n, 110n, 140n, 145n]) timestamps.add(at);
  assert.deepEqual(timestamps.result, { max: 30, min: 5, average: 15 });
});

test('a clock that wraps around goes on', () => {
  const timestamps = new Timestamps(0xffffn);
  for (const at of [0xfff0n, 0x10n]) timestamps.add(at);
  assert.deepEqual(timestamps.result, { max: 0x20, min: 0x20, average: 0x20 });
});

test('one completion is not a time from one to the next', () => {
  const timestamps = new Timestamps(0xffffn);
  timestamps.add(1n);
  assert.equal(timestamps.result, undefined);
});
