import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tool, run } from './tool.js';

test('lab a plays three rounds', async () => {
  const { code, stdout, stderr } = await run(['lab', 'a'], { VERBENA_ADDR: '127.84.1.1' });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  for (const round of [1, 2, 3]) {
    assert.match(stdout, new RegExp(`^B received: ping ${round}\nA received: pong ${round}$`, 'm'));
  }
});

test('lab c sends, writes and reads between two processes', async () => {
  const server = new Tool(['lab', 'c', 'server', '127.84.2.1']);
  await server.printed('waiting on TCP port');
  const client = await run(['lab', 'c', '127.0.0.1', '127.84.2.2']);
  const { code, stdout } = await server.ended;
  assert.deepEqual([code, client.code], [0, 0], client.stderr);
  assert.match(stdout, /^received by SEND: hello from the client$/m);
  assert.match(stdout, /^found in memory, put there by RDMA WRITE: written straight into your memory$/m);
  assert.match(client.stdout, /^RDMA READ completed: the server put this here, and never sent it$/m);
});

test('a lab that does not exist is refused', async () => {
  const { code, stderr } = await run(['lab', 'z']);
  assert.deepEqual({ code, stderr }, { code: 1, stderr: "There is no lab 'z'; there are: a, c.\n" });
});
