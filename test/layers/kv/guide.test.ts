import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import * as kv from '../../../src/kv.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const guide = readFileSync(join(ROOT, 'docs/kv.md'), 'utf8');

test("the guide's program runs as it stands", () => {
  const source = /^```ts\n(.*?)^```$/ms.exec(guide)?.[1] ?? '';
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
  });
  // Inside the package, so that its name resolves to it.
  const file = join(ROOT, 'dist', `kv-guide-${process.pid}.mjs`);
  writeFileSync(file, outputText);
  try {
    const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    assert.deepEqual({ stdout, stderr }, { stdout: 'hello\n1n\n', stderr: '' });
  } finally {
    rmSync(file);
  }
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
  assert.equal(shown, `// limiter.test.ts\n${readFileSync(join(ROOT, 'test/layers/kv/limiter.test.ts'), 'utf8')}`);
});
