import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Sides, asClient, play, serve, serverAt, wentWell } from './cm-play.js';
import { run } from './tool.js';

const UDADDY: Sides = {
  tool: 'udaddy',
  server: (address) => ['-b', address],
  client: (server, client) => ['-s', server, '-b', client],
  ready: 'starting server',
};

// What the C tools print between two hosts with Soft-RoCE.
const GOLDEN_SERVER = `udaddy: starting server
receiving data transfers
sending replies
data transfers complete
test complete
return status 0
`;
const GOLDEN_CLIENT = `udaddy: starting client
udaddy: connecting
initiating data transfers
receiving data transfers
data transfers complete
test complete
return status 0
`;

test('both sides print what the C tools print', async () => {
  const { server, client } = await play(UDADDY, 0, ['-C', '3', '-S', '100']);
  assert.deepEqual(client, { code: 0, signal: null, stdout: GOLDEN_CLIENT, stderr: '' });
  assert.deepEqual(server, { code: 0, signal: null, stdout: GOLDEN_SERVER, stderr: '' });
});

const CASES = [
  { name: 'ten queue pairs', flags: ['-c', '10'] },
  { name: 'datagrams as long as the link takes', flags: ['-S', '4096', '-C', '3'] },
  { name: 'no messages', flags: ['-C', '0'] },
  { name: 'a type of service', flags: ['-t', '0x20'] },
  { name: 'the port space IPoIB', flags: ['-P', 'ipoib'] },
  { name: 'the port space by its number', flags: ['-p', '0x2'] },
  { name: 'the NICs inline', flags: ['--host', 'inline', '-c', '3'] },
];
for (const [index, { name, flags }] of CASES.entries()) {
  test(`two sides play with ${name}`, async () => {
    const { server, client } = await play(UDADDY, 1 + index, flags);
    wentWell(client, server);
  });
}

test('each datagram bears the number of the queue pair that sent it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'udaddy-'));
  const capture = join(folder, 'server.pcapng');
  try {
    const server = await serve(UDADDY, 20, ['-C', '2'], { VERBENA_PCAP: capture });
    wentWell(await run(asClient(UDADDY, 20, ['-C', '2'])), await server.ended);
    const { stdout } = await run(['dump', '--json', capture]);
    const packets = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { deth?: { sourceQp: number }; immData?: number });
    const told = packets.filter(({ immData }) => immData !== undefined);
    assert.equal(told.length, 4);
    for (const { deth, immData } of told) assert.equal(immData, deth?.sourceQp);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a message that is longer than a datagram is refused as in C', async () => {
  const server = await serve(UDADDY, 21);
  const { code, stdout, stderr } = await run(asClient(UDADDY, 21, ['-S', '4097']));
  assert.equal(code, 234);
  assert.match(stdout, /^udaddy: starting client\nudaddy: connecting\ntest complete\nreturn status -22\n$/);
  assert.equal(stderr, 'udaddy: message_size 4097 is larger than active mtu 4096\n');
  server.child.kill('SIGINT');
  assert.equal((await server.ended).code, 130);
});

test('a client of a host where nothing listens is told so', async () => {
  const server = await serve(UDADDY, 22, ['-P', 'ipoib']);
  const { code, stdout, stderr } = await run(asClient(UDADDY, 22));
  assert.equal(code, 1);
  assert.match(stdout, /udaddy: event: RDMA_CM_EVENT_UNREACHABLE, error: 1\ntest complete\nreturn status 1\n$/);
  assert.match(stderr, /^Nothing listens at that port there; .+\n$/);
  server.child.kill('SIGINT');
  await server.ended;
});

test('a client that wants more than the server is refused', async () => {
  const server = await serve(UDADDY, 23, ['-c', '1']);
  const client = await run(asClient(UDADDY, 23, ['-c', '2']));
  assert.equal(client.code, 2);
  assert.match(client.stdout, /RDMA_CM_EVENT_UNREACHABLE, error: 2\n/);
  server.child.kill('SIGINT');
  await server.ended;
});

test('a second server at the same address says that it is taken', async () => {
  const server = await serve(UDADDY, 24);
  const { code, stdout, stderr } = await run(['udaddy', '-b', serverAt(24)]);
  assert.equal(code, 255);
  assert.equal(stdout, 'udaddy: starting server\ntest complete\nreturn status -1\n');
  assert.match(stderr, /^udaddy: bind address failed: .*\(EADDRINUSE\)/);
  server.child.kill('SIGINT');
  await server.ended;
});

test('--json prints one object', async () => {
  const { client } = await play(UDADDY, 25, [], ['--json']);
  const { elapsedUs, ...facts } = JSON.parse(client.stdout) as Record<string, unknown>;
  assert.equal(typeof elapsedUs, 'number');
  assert.deepEqual(facts, { tool: 'udaddy', role: 'client', connections: 1, messages: 10, sizeBytes: 100, status: 0 });
});
