import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gpuProblem, GpuKind } from '../../entry/gpu.js';
import { Tool, run } from './tool.js';
import { loopback } from '../../../test/support/loopback.js';

test('lab a plays three rounds', async () => {
  const { code, stdout, stderr } = await run(['lab', 'a'], { VERBENA_ADDR: loopback(1) });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  for (const round of [1, 2, 3]) {
    assert.match(stdout, new RegExp(`^B received: ping ${round}\nA received: pong ${round}$`, 'm'));
  }
});

/** A server of lab c or d that listens. Its TCP port is the lab's own, so it may be another's for a moment. */
async function labServer(lab: string, address: string, ...more: readonly string[]): Promise<Tool> {
  for (;;) {
    const server = new Tool(['lab', lab, 'server', address, ...more]);
    const refused = server.ended.then(({ stderr }) => stderr.includes('EADDRINUSE'));
    const listening = server.printed('waiting on TCP port').then(() => false);
    if (!(await Promise.race([listening.catch(() => refused), refused]))) return server;
  }
}

test('lab c sends, writes and reads between two processes', async () => {
  const server = await labServer('c', loopback(2));
  const client = await run(['lab', 'c', '127.0.0.1', loopback(3)]);
  const { code, stdout } = await server.ended;
  assert.deepEqual([code, client.code], [0, 0], client.stderr);
  assert.match(stdout, /^received by SEND: hello from the client$/m);
  assert.match(stdout, /^found in memory, put there by RDMA WRITE: written straight into your memory$/m);
  assert.match(client.stdout, /^RDMA READ completed: the server put this here, and never sent it$/m);
});

const skip = gpuProblem(GpuKind.OPENCL) ?? false;

test('lab d does the same between the GPUs of two processes, and compares there', { skip }, async () => {
  const gpu = ['--gpu', 'opencl'];
  const server = await labServer('d', loopback(6), ...gpu);
  const client = await run(['lab', 'd', '127.0.0.1', loopback(7), ...gpu]);
  const { code, stdout, stderr } = await server.ended;
  assert.deepEqual([code, client.code, stderr], [0, 0, ''], client.stderr);
  assert.match(stdout, /^received by SEND, on the GPU: hello from the GPU of the client$/m);
  assert.match(stdout, /^found on the GPU, put there by RDMA WRITE: [0-9a-f]{16}\.\.\.$/m);
  assert.match(client.stdout, /^RDMA READ completed: the server put this on its GPU, and never sent it$/m);
  assert.match(client.stdout, /^RDMA READ of the same completed: compared on the GPU, every byte is as it was$/m);
});

test('lab d refuses a kind of GPU that there is not', async () => {
  const { code, stderr } = await run(['lab', 'd', 'server', loopback(8), '--gpu', 'metal']);
  assert.equal(code, 1);
  assert.match(stderr, /^--gpu metal: that is neither cuda nor opencl\n/);
});

test('a lab that fails says why and where, in two lines', async () => {
  const { code, stderr } = await run(['lab', 'a'], { VERBENA_ADDR: loopback(4), VERBENA_PCAP: '/dev/full' });
  assert.equal(code, 1);
  assert.match(stderr, /^ibv_open_device: .+\n {2}at labs\/lab-a\.ts:\d+\n$/);
});

test('a client of lab c without a server is told to start one', async () => {
  // With an empty label, for which no resolver asks another machine.
  const { code, stderr } = await run(['lab', 'c', 'no-such-host..invalid', loopback(5)]);
  assert.equal(code, 1);
  assert.match(stderr, /^no server at no-such-host\.\.invalid: start `lab c server` there first\n/);
});

test('a lab that does not exist is refused', async () => {
  const { code, stderr } = await run(['lab', 'z']);
  assert.deepEqual({ code, stderr }, { code: 1, stderr: "There is no lab 'z'; there are: a, b, c, d, 3.\n" });
});

test('lab b, which has no program, names its page', async () => {
  const { code, stdout } = await run(['lab', 'b']);
  assert.deepEqual({ code, stdout }, { code: 0, stdout: 'Lab b has no program of its own: read labs/lab-b.md.\n' });
});

test('a program of a lab tells what it takes, without running', async () => {
  const { code, stdout } = await run(['lab', '3', 'receiver', '--help']);
  assert.equal(code, 0);
  assert.match(stdout, /^Usage: verbena lab 3 receiver \[ADDRESS\]/);
});
