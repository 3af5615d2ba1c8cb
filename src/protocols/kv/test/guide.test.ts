import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as kv from '../../../entry/kv.js';
import { Page, ROOT } from '../../../../test/support/page.js';

const page = new Page('docs/kv.md');
const guide = page.text;

test("the guide's program runs as it stands", () => {
  assert.deepEqual(page.run(0), { stdout: 'hello\n1n\n', stderr: '' });
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

test('the guide shows the very code of limiter.test.ts', () => {
  const [shown] = /^\/\/ limiter\.test\.ts\n[^]*?(?=^```$)/m.exec(guide) ?? [''];
  assert.equal(
    shown,
    `// limiter.test.ts\n${readFileSync(join(ROOT, 'src/protocols/kv/test/limiter.test.ts'), 'utf8')}`,
  );
});
