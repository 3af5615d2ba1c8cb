import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as kv from '../../../entry/kv.js';
import { Page } from '../../../../test/support/page.js';

const page = new Page('docs/guide/kv.md');
const guide = page.text;

for (const [index, stdout] of ['hello\n1n\n', 'working\n', '2 2\n'].entries())
  test(`program ${index + 1} of the guide runs as it stands`, () => {
    assert.deepEqual(page.run(index), { stdout, stderr: '' });
  });

test('the programs of the guide have right types, by the strictest rules', () => {
  assert.deepEqual(page.typeProblems(), []);
});

test('the guide has every call of a client', () => {
  const members = Object.getOwnPropertyDescriptors(kv.KvClient.prototype);
  const calls = Object.entries(members)
    .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function')
    .map(([name]) => name);
  assert.ok(calls.length > 10);
  assert.deepEqual(
    calls.filter((name) => !guide.includes(`${name}(`)),
    [],
  );
});
