import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { ROOT } from './tool.js';

test("README's program runs as it stands", () => {
  const source = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, 'README.md'), 'utf8'))?.[1];
  assert.ok(source !== undefined);
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
  });
  // Inside the package, so that its name resolves to it.
  const file = join(ROOT, 'dist', `readme-${process.pid}.mjs`);
  writeFileSync(file, outputText);
  try {
    const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    assert.deepEqual({ stdout, stderr }, { stdout: 'hello\n', stderr: '' });
  } finally {
    rmSync(file);
  }
});
