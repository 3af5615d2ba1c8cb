import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Page } from '../../../../test/support/page.js';

test('the program of docs/guide/rsocket.md runs as it stands, and has right types', () => {
  const page = new Page('docs/guide/rsocket.md');
  assert.deepEqual(page.run(0), { stdout: 'hello\n', stderr: '' });
  assert.deepEqual(page.typeProblems(), []);
});
