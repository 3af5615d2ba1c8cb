import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { gpuProblem, GpuKind } from '../../src/gpu.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const guide = readFileSync(join(ROOT, 'docs/gpu.md'), 'utf8');
const skip = Object.values(GpuKind)
  .map((kind) => gpuProblem(kind))
  .every((problem) => problem !== undefined)
  ? 'there is no GPU, and no OpenCL device in place of one'
  : false;

describe('the guide to memory of GPUs', () => {
  it('has a program that runs as it stands', { skip }, () => {
    const source = /^```ts\n(.*?)^```$/ms.exec(guide)?.[1] ?? '';
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
    });
    // Inside the package, so that its name resolves to it.
    const file = join(ROOT, 'dist', `gpu-guide-${process.pid}.mjs`);
    writeFileSync(file, outputText);
    try {
      const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
      assert.deepEqual({ stdout, stderr }, { stdout: 'written\nthe same on the device\n', stderr: '' });
    } finally {
      rmSync(file);
    }
  });
});
