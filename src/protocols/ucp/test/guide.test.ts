import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as ucp from '../../../entry/ucp.js';
import { Page, ROOT } from '../../../../test/support/page.js';

const page = new Page('docs/guide/ucp.md');
const guide = page.text;

for (const [index, stdout] of ['7n hello\n', 'hello 5n\n'].entries())
  test(`program ${index + 1} of the guide runs as it stands`, () => {
    assert.deepEqual(page.run(index), { stdout, stderr: '' });
  });

test("the guide's programs have right types, by the strictest rules", () => {
  assert.deepEqual(page.typeProblems(), []);
});

test('the guide has every call of workers and endpoints', () => {
  const calls = [ucp.UcpWorker, ucp.UcpEndpoint].flatMap(({ prototype }) =>
    Object.entries(Object.getOwnPropertyDescriptors(prototype))
      .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function')
      .map(([name]) => name),
  );
  assert.ok(calls.length > 20);
  assert.deepEqual(
    calls.filter((name) => !new RegExp(`\\.${name}\\b`).test(guide)),
    [],
  );
});

test('docs/internals/ucp.md names test files that exist', () => {
  const table = readFileSync(join(ROOT, 'docs/internals/ucp.md'), 'utf8');
  const named = [...table.matchAll(/`([\w/-]+\.test\.ts)`/g)].map(([, file]) => file);
  assert.ok(named.length > 20);
  assert.deepEqual(
    named.filter((file) => !existsSync(join(ROOT, 'src/protocols/ucp/test', file))),
    [],
  );
});
