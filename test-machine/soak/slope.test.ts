import assert from 'node:assert/strict';
import { it } from 'node:test';
import { growth, slopePerHour } from './slope.js';

const samples = (values: readonly number[]) => values.map((value, i) => ({ atMs: i * 60_000, value }));

it('what stays where it is has no slope', () => {
  assert.equal(slopePerHour(samples([5, 5, 5, 5])), 0);
});

it('a byte a minute is sixty an hour', () => {
  assert.equal(Math.round(slopePerHour(samples([0, 1, 2, 3, 4]))), 60);
});

it('one peak is no growth', () => {
  assert.equal(growth(samples([5, 5, 5, 99, 5, 5, 99, 5, 5])), 0);
});

it('what is more in the end than in the beginning has grown by so much', () => {
  assert.equal(growth(samples([5, 5, 5, 6, 7, 8, 9, 9, 9])), 4);
});

it('two samples say nothing', () => {
  assert.equal(growth(samples([1, 9])), 0);
  assert.equal(slopePerHour(samples([1, 9])), 0);
});
