import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ObjectTable } from '../control/objects.js';

/** Gives these numbers one after the other. */
function drawing(...numbers: readonly number[]): () => number {
  const left = [...numbers];
  return () => left.shift() ?? 0x777777;
}

it('the number of a queue pair that has ended is not given again at once', () => {
  const table = new ObjectTable<string>('QP', 10);
  table.add(0x123456, 'first');
  table.remove(0x123456);
  assert.equal(table.freshNumber(drawing(0x123456, 0x654321)), 0x654321);
});

it('a number is given again once many others have ended after it', () => {
  const table = new ObjectTable<string>('QP', 10);
  for (let number = 0x100000; number <= 0x100000 + 16384; number += 1) {
    table.add(number, 'one');
    table.remove(number);
  }
  assert.equal(table.freshNumber(drawing(0x100000, 0x654321)), 0x100000);
});
