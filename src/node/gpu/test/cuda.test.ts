import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { GpuKind, gpuProblem } from '../../../entry/gpu.js';
import { nativeHostProblem } from '../../system/index.js';
import { withoutCompiler } from '../../../run/test/support-grh.js';
import { makeFakeCuda } from './fake-cuda.js';

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const skip = nativeHostProblem() ?? withoutCompiler;

describe('CUDA, with a library in its place that has no GPU', { skip }, () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'verbena-cuda-'));
    makeFakeCuda(folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  function run(
    words: readonly string[],
    settings: NodeJS.ProcessEnv = {},
  ): { readonly status: number | null; readonly text: string } {
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const env = { ...environment, LD_LIBRARY_PATH: folder, VERBENA_TEST_GPU: 'cuda', ...settings };
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8', env });
    return { status, text: stdout + stderr };
  }

  it('passes the tests that OpenCL passes, and leaves nothing', () => {
    const files = ['program', 'refused-result', 'regions', 'traffic', 'waiting'].map((name) =>
      beside(`${name}.test.js`),
    );
    const { status, text } = run(['--test', '--test-reporter=tap', ...files]);
    assert.equal(status, 0, text);
    assert.match(text, /by cuda/);
    assert.match(text, /^# skipped 0$/m);
  });

  it('says that there is no device where the library finds none', () => {
    const { status, text } = run([beside('cuda-program.js'), 'problem'], { FAKE_CUDA_DEVICES: '0' });
    assert.deepEqual(
      [status, text.trim()],
      [0, "cuda: the library is there, and finds no device; it needs one of NVIDIA's GPUs"],
    );
  });

  it('says that it needs native calls where there are none', () => {
    const { status, text } = run([beside('cuda-program.js'), 'problem'], { VERBENA_NATIVE: 'off' });
    assert.deepEqual([status, text.trim()], [0, 'CUDA needs native calls: VERBENA_NATIVE=off']);
  });

  for (const [host, side, expected, why] of [
    ['inline', 'local', 'LOC_PROT_ERR', /did not copy what is at .*: its driver gave error 700\./],
    ['thread', 'local', 'LOC_PROT_ERR', /did not copy what is at .*: its driver gave error 700\./],
    ['inline', 'remote', 'REM_OP_ERR', /in ERR after the device that has memory that the peer named failed to copy it/],
    ['thread', 'remote', 'REM_OP_ERR', /in ERR after the device that has memory that the peer named failed to copy it/],
  ] as const)
    it(`ends requests in ${expected} when the ${side} device fails, with a NIC hosted ${host}, and says why`, () => {
      const { status, text } = run([beside('cuda-program.js'), 'failure', host, side], { FAKE_CUDA_FAILS_AT: '12' });
      assert.equal(status, 0, text);
      assert.ok(text.includes(`status ${expected}\n`), text);
      assert.match(text, why);
      assert.match(text, /VerbenaWarning: a GPU .* gave CUDA_ERROR_ILLEGAL_ADDRESS \(700\)/);
    });
});

describe('CUDA without its library', { skip: nativeHostProblem() ?? false }, () => {
  it('is refused with a sentence that says what is missing', () => {
    const problem = gpuProblem(GpuKind.CUDA);
    if (problem !== undefined)
      assert.match(problem, /^(CUDA cannot be used: libcuda\.so\.1 does not load|cuda: the library is there)/);
  });
});
