import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { KIND, withoutGpu } from './support.js';

describe(`${KIND} without a driver`, { skip: withoutGpu }, () => {
  it('is refused with a sentence that says what to install', () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbena-opencl-'));
    try {
      const program = fileURLToPath(new URL('cuda-program.js', import.meta.url));
      // Where OpenCL's loader looks for drivers (cl_khr_icd of ocl-icd).
      const env = { ...process.env, OCL_ICD_VENDORS: folder };
      const { stdout } = spawnSync(process.execPath, [program, 'problem', 'opencl'], { encoding: 'utf8', env });
      assert.match(stdout, /^opencl: the library is there, and finds no device; install the OpenCL driver of a device/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
