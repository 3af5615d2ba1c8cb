import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KeyDeed, KeyHistories } from '../../sim/kv/key-model.js';

/** What was done, from when to when, and what came of it. */
type Row = readonly [begun: number, done: number, deed: KeyDeed];

function verified(rows: readonly Row[]): boolean {
  const histories = new KeyHistories();
  for (const [begun, done, deed] of rows) histories.record(1, 'key', begun, done, deed);
  try {
    histories.verify();
    return true;
  } catch {
    return false;
  }
}

const set = (value: string, result: bigint | 'unknown'): KeyDeed => ({ kind: 'set', value, result });
const entry = (value: string, version: bigint): KeyDeed => ({ kind: 'entry', result: { value, version } });
const nothing: KeyDeed = { kind: 'entry', result: undefined };
const incr = (result: bigint | 'unknown'): KeyDeed => ({ kind: 'incr', by: 1n, result });
const never = Infinity;

describe('the search for an order', () => {
  const fine: Record<string, readonly Row[]> = {
    'of one after the other': [
      [1, 2, nothing],
      [3, 4, set('a', 1n)],
      [5, 6, entry('a', 1n)],
    ],
    'of two at the same time, whichever was first': [
      [1, 4, set('a', 1n)],
      [2, 3, set('b', 2n)],
      [5, 6, entry('a', 1n)],
    ],
    'of one that nobody knows of, and that was done': [
      [1, never, set('a', 'unknown')],
      [2, 3, entry('a', 9n)],
    ],
    'of one that nobody knows of, and that was not done': [
      [1, never, incr('unknown')],
      [2, 3, incr(1n)],
      [4, 5, incr(2n)],
    ],
    'of one that nobody knows of, and that was done late': [
      [1, never, set('a', 'unknown')],
      [2, 3, nothing],
      [4, 5, entry('a', 9n)],
    ],
    'of counting at the same time': [
      [1, 9, incr(3n)],
      [2, 8, incr(1n)],
      [3, 7, incr(2n)],
    ],
  };
  for (const [name, rows] of Object.entries(fine)) it(`finds that ${name}`, () => assert.ok(verified(rows)));

  const wrong: Record<string, readonly Row[]> = {
    'a value that is lost': [
      [1, 2, set('a', 1n)],
      [3, 4, nothing],
    ],
    'a value that comes back': [
      [1, 2, set('a', 1n)],
      [3, 4, set('b', 2n)],
      [5, 6, entry('a', 1n)],
    ],
    'a number that is added twice': [
      [1, 2, incr(1n)],
      [3, 4, { kind: 'entry', result: { value: '2', version: 1n } }],
    ],
    'one sum that two are told': [
      [1, 4, incr(1n)],
      [2, 3, incr(1n)],
    ],
    'something unknown that is done twice': [
      [1, never, incr('unknown')],
      [2, 3, incr(1n)],
      [4, 5, incr(4n)],
    ],
    'a version of another value': [
      [1, 2, set('a', 1n)],
      [3, 4, entry('a', 2n)],
    ],
    'two that swap the same version': [
      [1, 2, set('a', 1n)],
      [3, 6, { kind: 'cas', value: 'b', before: 1n, result: 2n }],
      [4, 5, { kind: 'cas', value: 'c', before: 1n, result: 3n }],
    ],
    'a reader who goes back in time': [
      [1, 9, set('a', 1n)],
      [2, 3, entry('a', 1n)],
      [4, 5, nothing],
    ],
  };
  for (const [name, rows] of Object.entries(wrong)) it(`finds none for ${name}`, () => assert.ok(!verified(rows)));
});
