import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Page } from '../../../../test/support/page.js';

const page = new Page('docs/guide/net.md');

for (const index of page.programs.keys())
  test(`program ${index + 1} of docs/guide/net.md runs as it stands`, () => {
    assert.deepEqual(page.run(index), { stdout: 'hello\n', stderr: '' });
  });

test('the programs of docs/guide/net.md have right types, by the strictest rules', () => {
  assert.ok(page.programs.length > 1);
  assert.deepEqual(page.typeProblems(), []);
});
