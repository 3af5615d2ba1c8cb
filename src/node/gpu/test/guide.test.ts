import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gpuProblem, GpuKind } from '../../../entry/gpu.js';
import { Page } from '../../../../test/support/page.js';

const skip = Object.values(GpuKind)
  .map((kind) => gpuProblem(kind))
  .every((problem) => problem !== undefined)
  ? 'there is no GPU, and no OpenCL device in place of one'
  : false;

describe('the guide to memory of GPUs', () => {
  it('has a program that runs as it stands', { skip }, () => {
    assert.deepEqual(new Page('docs/guide/gpu.md').run(0), { stdout: 'written\nthe same on the device\n', stderr: '' });
  });
});
