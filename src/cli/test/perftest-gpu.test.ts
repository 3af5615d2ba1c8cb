import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gpuProblem, GpuKind } from '../../entry/gpu.js';
import { playTest } from './perftest-play.js';
import { run } from './tool.js';

const skip = gpuProblem(GpuKind.OPENCL) ?? false;
const GPU = ['--use_opencl', '0'];
for (const [index, { tool, flags, sides }] of [
  { tool: 'ib_write_bw', flags: GPU, sides: {} },
  { tool: 'ib_send_lat', flags: GPU, sides: {} },
  { tool: 'ib_read_bw', flags: [], sides: { client: GPU } },
  { tool: 'ib_atomic_bw', flags: [], sides: { server: GPU } },
].entries()) {
  const where = Object.keys(sides).at(0) ?? 'both sides';
  test(`${tool} runs with memory of an OpenCL device at ${where}`, { skip }, async () => {
    const { server, client } = await playTest(tool, 1 + index, ['-n', '20', ...flags], sides);
    assert.deepEqual([server.code, client.code], [0, 0], server.stderr + client.stderr);
    const note = /^Memory of opencl device 0: .+\n$/;
    assert.match(where === 'server' ? server.stderr : client.stderr, note);
    assert.match(client.stdout, / 20 /);
  });
}

test('a device that there is not is refused with a sentence', async () => {
  const { code, stderr } = await run(['ib_write_bw', '--use_opencl', '900']);
  assert.equal(code, 1);
  assert.match(stderr, /^Couldn't open device 900 of opencl: /);
});
