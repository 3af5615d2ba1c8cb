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

test('docs/internals/ucp.md names tests that exist', () => {
  const table = readFileSync(join(ROOT, 'docs/internals/ucp.md'), 'utf8');
  let source = '';
  let titles = 0;
  const missing: string[] = [];
  for (const [named] of table.matchAll(/`[\w/-]+\.test\.ts`|"[^"]+"/g)) {
    const name = named.slice(1, -1);
    if (named.startsWith('`')) {
      const file = join(ROOT, 'src/protocols/ucp/test', name);
      source = existsSync(file) ? readFileSync(file, 'utf8') : '';
      if (source === '') missing.push(name);
    } else {
      titles += 1;
      if (!source.includes(name)) missing.push(name);
    }
  }
  assert.ok(titles > 30);
  assert.deepEqual(missing, []);
});
