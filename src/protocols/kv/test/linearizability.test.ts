import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type KeyDeed, KeyHistories } from './sim/key-model.js';

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
      [1, 4, set('a', 2n)],
      [2, 3, set('b', 1n)],
      [5, 6, entry('a', 2n)],
    ],
    'of an addition of nothing between two who looked, for which there is another version': [
      [1, 2, incr(1n)],
      [3, 10, { kind: 'incr', by: 0n, result: 1n }],
      [4, 5, entry('1', 1n)],
      [6, 7, entry('1', 2n)],
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
    'a version that is not greater than one before': [
      [1, 2, set('a', 2n)],
      [3, 4, incr('unknown')],
      [5, 6, { kind: 'delete', result: true }],
      [7, 8, set('b', 1n)],
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

/** What was done, in which ms of the server's clock, one after the other, and what came of it. */
type Timed = readonly [fromMs: number, toMs: number, deed: KeyDeed];

function verifiedInTime(rows: readonly Timed[]): boolean {
  const histories = new KeyHistories();
  for (const [fromMs, toMs, deed] of rows) {
    const moment = { fromUs: fromMs * 1000, toUs: toMs * 1000 };
    histories.record(1, 'key', histories.tick(), histories.tick(), deed, moment);
  }
  try {
    histories.verify();
    return true;
  } catch {
    return false;
  }
}

describe('the search for an order among many', () => {
  it('finds that of a crowd of readers, whenever each of them has read', () => {
    const readers = Array.from({ length: 60 }, (_, i): Row => [2 + i, 1000 - i, entry('a', 1n)]);
    const writers: readonly Row[] = [
      [1, 500, set('a', 1n)],
      [1, 1000, set('b', 2n)],
      [1001, 1002, entry('b', 2n)],
    ];
    assert.ok(verified([...writers, ...readers]));
  });

  it('finds that of a crowd of writers whose values end, each of which has a version', () => {
    const writers = Array.from({ length: 60 }, (_, i): Row => {
      const result = BigInt(1 + ((i * 7) % 60));
      return [1, 1000, { kind: 'set', value: String(i), ttlMs: 5, result }];
    });
    assert.ok(verified([...writers, [1001, 1002, nothing]]));
    assert.ok(!verified([...writers, [1001, 1002, entry('0', 60n)]]));
  });

  it('finds none where one of them has read what nobody had set', () => {
    const readers = Array.from({ length: 60 }, (_, i): Row => [2 + i, 1000 - i, entry('a', 1n)]);
    assert.ok(!verified([[1, 500, set('a', 1n)], ...readers, [70, 80, entry('b', 2n)]]));
  });
});

describe('the search for an order in time', () => {
  const brief: KeyDeed = { kind: 'set', value: 'a', ttlMs: 10, result: 1n };
  const left = (result: number | undefined): KeyDeed => ({ kind: 'ttl', result });

  const fine: Record<string, readonly Timed[]> = {
    'an entry that is there until its time has come': [
      [1, 2, brief],
      [3, 10, entry('a', 1n)],
      [12, 12, nothing],
    ],
    'an entry that may have gone or not': [
      [1, 3, brief],
      [11, 13, entry('a', 1n)],
      [12, 13, nothing],
    ],
    'an entry whose time was set anew': [
      [1, 2, brief],
      [5, 6, { kind: 'touch', ttlMs: 0, result: true }],
      [50, 60, entry('a', 1n)],
      [61, 61, left(Infinity)],
    ],
    'an entry whose time was said': [
      [1, 3, brief],
      [5, 5, left(7)],
      [11, 11, entry('a', 1n)],
      [12, 12, { kind: 'add', value: 'b', result: 2n }],
    ],
    'a time that nobody knows was set': [
      [1, 1, { kind: 'set', value: 'a', result: 1n }],
      [2, Infinity, { kind: 'touch', ttlMs: 10, result: 'unknown' }],
      [12, 12, nothing],
    ],
  };
  for (const [name, rows] of Object.entries(fine)) it(`finds that of ${name}`, () => assert.ok(verifiedInTime(rows)));

  const wrong: Record<string, readonly Timed[]> = {
    'an entry that has gone before its time': [
      [1, 2, brief],
      [3, 10, nothing],
    ],
    'an entry that outlives its time': [
      [1, 2, brief],
      [12, 13, entry('a', 1n)],
    ],
    'an entry that is there again': [
      [1, 3, brief],
      [11, 12, nothing],
      [11, 12, entry('a', 1n)],
    ],
    'an entry that has another time to live than it was given': [
      [1, 1, brief],
      [5, 5, left(7)],
    ],
    'an entry that ends though it was set for ever': [
      [1, 2, brief],
      [3, 4, { kind: 'set', value: 'b', result: 2n }],
      [50, 60, nothing],
    ],
    'an entry that ends by a time that was said to be later': [
      [1, 3, brief],
      [5, 5, left(8)],
      [11, 12, nothing],
    ],
  };
  for (const [name, rows] of Object.entries(wrong))
    it(`finds none for ${name}`, () => assert.ok(!verifiedInTime(rows)));
});
