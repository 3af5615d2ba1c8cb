import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRow, playTest, rowsOf } from './perftest-play.js';
import { clientAt, serverAt } from './pingpong-play.js';
import { Tool, run } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

interface Case {
  readonly tool: string;
  readonly flags: readonly string[];
  readonly sizeBytes: number;
  readonly iterations: number;
}

const CASES: readonly Case[] = [
  { tool: 'ib_send_bw', flags: ['-z'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_write_lat', flags: ['-z'], sizeBytes: 2, iterations: 50 },
  { tool: 'ib_send_bw', flags: ['-R', '-q', '3'], sizeBytes: 65536, iterations: 150 },
  { tool: 'ib_send_bw', flags: ['-R', '-b'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_send_lat', flags: ['-R', '-T', '32'], sizeBytes: 2, iterations: 50 },
  { tool: 'ib_send_bw', flags: ['-R', '-c', 'UD', '-s', '512', '-q', '2'], sizeBytes: 512, iterations: 100 },
  { tool: 'ib_send_bw', flags: ['-R', '-c', 'UD', '-s', '512', '-b'], sizeBytes: 512, iterations: 50 },
  { tool: 'ib_send_lat', flags: ['-R', '-c', 'UD'], sizeBytes: 2, iterations: 50 },
  { tool: 'ib_write_bw', flags: ['-R'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_write_lat', flags: ['-R', '--host', 'inline'], sizeBytes: 2, iterations: 50 },
  { tool: 'ib_read_bw', flags: ['-R', '-o', '4'], sizeBytes: 65536, iterations: 50 },
  { tool: 'ib_read_lat', flags: ['-R', '--host', 'inline'], sizeBytes: 2, iterations: 50 },
  { tool: 'ib_atomic_bw', flags: ['-R', '-b'], sizeBytes: 8, iterations: 50 },
  { tool: 'ib_atomic_lat', flags: ['-R'], sizeBytes: 8, iterations: 50 },
];

for (const [index, { tool, flags, sizeBytes, iterations }] of CASES.entries()) {
  test(`two sides run ${tool} ${flags.join(' ')}`, async () => {
    const { server, client } = await playTest(tool, index, ['-n', '50', ...flags]);
    const [row] = rowsOf(client);
    assertRow(row, sizeBytes, iterations);
    rowsOf(server);
    assert.match(client.stdout, new RegExp(` rdma_cm QPs\t : ${flags.includes('-R') ? 'ON' : 'OFF'}\n`));
    assert.match(client.stdout, / Data ex\. method : rdma_cm/);
  });
}

test('a server says when its client comes by rdma_cm, as the C tool does', async () => {
  const { server } = await playTest('ib_write_bw', 20, ['-n', '5', '-R', '-T', '8']);
  assert.match(
    server.stdout,
    / Data ex\. method : rdma_cm \tTOS {4}: 8\n-+\n Waiting for client rdma_cm QP to connect\n/,
  );
});

test('a client without a server says so', async () => {
  const args = ['ib_send_bw', '-R', '-p', String(await freePort()), '--addr', clientAt(21)];
  // A device is there, but nobody listens.
  const other = new Tool(['ib_send_bw', '-p', String(await freePort()), '--addr', serverAt(21)]);
  await other.printed('Waiting for client');
  const { code, stderr } = await run([...args, serverAt(21)]);
  assert.equal(code, 1);
  assert.match(stderr, /refused the connection: .*nobody listens at that port/);
  other.child.kill();
  await other.ended;
});

test('a client that is ended by Ctrl-C within a run takes leave', async () => {
  const port = String(await freePort());
  const flags = ['ib_send_lat', '-R', '-p', port, '-n', '100000000'];
  const server = new Tool([...flags, '--addr', serverAt(22)]);
  await server.printed('Waiting for client');
  const client = new Tool([...flags, '--addr', clientAt(22), serverAt(22)]);
  await client.printed('#bytes');
  client.child.kill('SIGINT');
  assert.equal((await client.ended).code, 130);
  const { code, stderr } = await server.ended;
  assert.equal(code, 1);
  // Where it waits for an answer just then, it learns that the peer's NIC has gone before it learns of the end.
  const words = ["Couldn't read keys; the peer closed the connection", 'The peer closed the connection'];
  const gone = /^Couldn't read keys: no answer .* its NIC, which was on this machine, is gone/;
  assert.ok(words.includes(stderr.replace(/\.\n$/, '')) || gone.test(stderr), stderr);
});
