import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Sides, asClient, play, serve, serverAt, wentWell } from './cm-play.js';
import { Tool, run } from './tool.js';

const UCMATOSE: Sides = {
  tool: 'ucmatose',
  server: (address) => ['-b', address],
  client: (server, client) => ['-s', server, '-b', client],
  ready: 'starting server',
};

// What the C tools print between two hosts with Soft-RoCE.
const GOLDEN_SERVER = `cmatose: starting server
initiating data transfers
completing sends
receiving data transfers
data transfers complete
cmatose: disconnecting
disconnected
test complete
return status 0
`;
const GOLDEN_CLIENT = `cmatose: starting client
cmatose: connecting
receiving data transfers
sending replies
data transfers complete
test complete
return status 0
`;

test('both sides print what the C tools print', async () => {
  const { server, client } = await play(UCMATOSE, 0, ['-c', '2', '-C', '3', '-S', '100']);
  assert.deepEqual(client, { code: 0, signal: null, stdout: GOLDEN_CLIENT, stderr: '' });
  assert.deepEqual(server, { code: 0, signal: null, stdout: GOLDEN_SERVER, stderr: '' });
});

const CASES = [
  { name: 'ten connections', flags: ['-c', '10'] },
  { name: 'many messages of many packets', flags: ['-C', '100', '-S', '10000'] },
  { name: 'no messages', flags: ['-C', '0'] },
  { name: 'messages of no bytes', flags: ['-S', '0'] },
  { name: 'another event channel at the end', flags: ['-c', '3', '-m'] },
  { name: 'a type of service and an ACK timeout', flags: ['-t', '0x20', '-a', '14'] },
  { name: 'another port', flags: ['-p', '1'] },
  { name: 'the port space IB', flags: ['-P', 'ib'] },
  { name: 'addresses that are said to be some', flags: ['-f', 'ip'] },
  { name: 'the NICs inline', flags: ['--host', 'inline', '-c', '3'] },
];
for (const [index, { name, flags }] of CASES.entries()) {
  test(`two sides play with ${name}`, async () => {
    const { server, client } = await play(UCMATOSE, 1 + index, flags);
    wentWell(client, server);
  });
}

test('without messages none are told of', async () => {
  const { server } = await play(UCMATOSE, 20, ['-C', '0']);
  assert.deepEqual(server.stdout.split('\n'), [
    'cmatose: starting server',
    'cmatose: disconnecting',
    'disconnected',
    'test complete',
    'return status 0',
    '',
  ]);
});

test('a client of a port where nothing listens ends with the reason', async () => {
  const server = await serve(UCMATOSE, 21);
  const { code, stdout, stderr } = await run(asClient(UCMATOSE, 21, ['-p', '7999']));
  assert.equal(code, 8);
  assert.deepEqual(stdout.split('\n').slice(2), [
    'cmatose: event: RDMA_CM_EVENT_REJECTED, error: 8',
    'test complete',
    'return status 8',
    '',
  ]);
  assert.match(stderr, /^Nothing listens at that port there; .+\n$/);
  server.child.kill('SIGINT');
  assert.equal((await server.ended).code, 130);
});

test('a client that wants more connections than the server is refused, and the server ends', async () => {
  const server = await serve(UCMATOSE, 22, ['-c', '1']);
  const client = await run(asClient(UCMATOSE, 22, ['-c', '2']));
  assert.equal(client.code, 28);
  assert.match(client.stdout, /RDMA_CM_EVENT_REJECTED, error: 28\ntest complete\nreturn status 28\n$/);
  const { code, stderr } = await server.ended;
  assert.notEqual(code, 0);
  assert.match(stderr, /disconnected/);
});

test('Ctrl-C at a client that still waits for messages ends the server', async () => {
  const server = await serve(UCMATOSE, 23, ['-c', '1', '-C', '1']);
  // The server waits for replies that the client does not send, since it waits for one message more.
  const client = new Tool(asClient(UCMATOSE, 23, ['-c', '1', '-C', '2']));
  await server.printed('receiving data transfers');
  await client.printed('receiving data transfers');
  client.child.kill('SIGINT');
  assert.equal((await client.ended).code, 130);
  assert.equal((await server.ended).code, 255);
});

test('a second server at the same address says that it is taken', async () => {
  const server = await serve(UCMATOSE, 24);
  const { code, stdout, stderr } = await run(['ucmatose', '-b', serverAt(24)]);
  assert.equal(code, 255);
  assert.equal(stdout, 'cmatose: starting server\ntest complete\nreturn status -1\n');
  assert.match(stderr, /^cmatose: bind address failed: .*\(EADDRINUSE\)/);
  server.child.kill('SIGINT');
  await server.ended;
});

test('--json prints one object', async () => {
  const { client } = await play(UCMATOSE, 25, ['-c', '2'], ['-c', '2', '--json']);
  const { elapsedUs, ...facts } = JSON.parse(client.stdout) as Record<string, unknown>;
  assert.equal(typeof elapsedUs, 'number');
  assert.deepEqual(facts, {
    tool: 'ucmatose',
    role: 'client',
    connections: 2,
    messages: 10,
    sizeBytes: 100,
    status: 0,
  });
});

test('-f gid is refused with a sentence', async () => {
  const { code, stderr } = await run(['ucmatose', '-s', 'fe80::1', '-f', 'gid']);
  assert.equal(code, 255);
  assert.match(stderr, /^-f gid is for InfiniBand; .+\n$/);
});
