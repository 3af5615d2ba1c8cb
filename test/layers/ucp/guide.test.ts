import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import * as ucp from '../../../src/ucp.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const guide = readFileSync(join(ROOT, 'docs/ucp.md'), 'utf8');

test("the guide's program runs as it stands", () => {
  const source = /^```ts\n(.*?)^```$/ms.exec(guide)?.[1] ?? '';
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
  });
  // Inside the package, so that its name resolves to it.
  const file = join(ROOT, 'dist', `ucp-guide-${process.pid}.mjs`);
  writeFileSync(file, outputText);
  try {
    const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    assert.deepEqual({ stdout, stderr }, { stdout: '7n hello\n', stderr: '' });
  } finally {
    rmSync(file);
  }
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

test("the guide's table of tests names tests that there are", () => {
  const table = guide.slice(guide.indexOf("## UCX's tests, and ours"));
  let source = '';
  let titles = 0;
  const missing: string[] = [];
  for (const [named] of table.matchAll(/`[\w/-]+\.test\.ts`|"[^"]+"/g)) {
    const name = named.slice(1, -1);
    if (named.startsWith('`')) {
      const file = join(ROOT, 'test/layers/ucp', name);
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
