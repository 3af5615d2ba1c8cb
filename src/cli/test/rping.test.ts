import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Sides, asClient, clientAt, play, serve, serverAt, wentWell } from './cm-play.js';
import { IMPATIENT, Tool, run } from './tool.js';

const RPING: Sides = {
  tool: 'rping',
  // The C tool says nothing of itself without -d; what else it says goes to standard error.
  server: (address) => ['-s', '-d', '-a', address],
  client: (server, client) => ['-c', '-a', server, '-I', client],
  ready: 'rdma_listen',
};

// What the C tools print between two hosts with Soft-RoCE, for `rping -s -C 3` and `rping -c -C 3 -v`.
const GOLDEN_SERVER = 'server DISCONNECT EVENT...\nwait for RDMA_READ_ADV state 10\n';
const GOLDEN_CLIENT = `ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_\`abcdefghijklmnopqr
ping data: rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_\`abcdefghijklmnopqrs
ping data: rdma-ping-2: CDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_\`abcdefghijklmnopqrst
`;
const LEFT = 'client DISCONNECT EVENT...\n';

test('both sides print what the C tools print', async () => {
  const { server, client } = await play(RPING, 0, ['-C', '3'], ['-C', '3', '-v']);
  assert.deepEqual(client, { code: 0, signal: null, stdout: GOLDEN_CLIENT, stderr: LEFT });
  assert.deepEqual({ code: server.code, stderr: server.stderr }, { code: 0, stderr: GOLDEN_SERVER });
});

const CASES = [
  { name: 'validation', flags: ['-V'] },
  { name: 'the longest pings, validated', flags: ['-V', '-S', '65535'] },
  { name: 'the shortest pings, validated', flags: ['-V', '-S', '23'] },
  { name: 'queue pairs made and moved by verbs', flags: ['-V', '-q'] },
  { name: 'the NICs inline', flags: ['-V', '--host', 'inline'] },
  { name: 'another port', flags: ['-V', '-p', '65535'] },
];
for (const [index, { name, flags }] of CASES.entries()) {
  test(`two sides play with ${name}`, async () => {
    const { server, client } = await play(RPING, 1 + index, flags, ['-C', '20', ...flags]);
    wentWell(client, server);
  });
}

const MIXED = [
  { name: 'the server', server: ['-q'], client: [] },
  { name: 'the client', server: [], client: ['-q'] },
];
for (const [index, { name, server, client }] of MIXED.entries()) {
  test(`only ${name} makes its queue pair by verbs`, async () => {
    const ended = await play(RPING, 10 + index, server, ['-C', '5', '-V', ...client]);
    wentWell(ended.client, ended.server);
  });
}

test('a server with -v prints what it read', async () => {
  const { server } = await play(RPING, 12, ['-v'], ['-C', '2']);
  const read = server.stdout.split('\n').filter((line) => line.startsWith('server ping data: '));
  assert.deepEqual(
    read,
    GOLDEN_CLIENT.split('\n')
      .slice(0, 2)
      .map((line) => `server ${line}`),
  );
});

test('--json prints one object', async () => {
  const { client } = await play(RPING, 13, [], ['-C', '4', '--json']);
  const { elapsedUs, usecPerPing, ...facts } = JSON.parse(client.stdout) as Record<string, unknown>;
  assert.deepEqual(facts, {
    role: 'client',
    peer: { host: serverAt(13), port: 7174 },
    pings: 4,
    sizeBytes: 64,
    failed: false,
  });
  assert.equal(usecPerPing, Number(elapsedUs) / 4);
});

test('a server with -P serves clients one after the other, until it is ended', async () => {
  const server = await serve(RPING, 14, ['-P']);
  for (let i = 0; i < 2; i += 1) wentWell(await run(asClient(RPING, 14, ['-C', '3', '-V'])));
  server.child.kill('SIGINT');
  assert.equal((await server.ended).code, 130);
});

test('a server with -P serves clients side by side', async () => {
  const server = await serve(RPING, 15, ['-P']);
  // The first would go on for ever; the second comes and goes meanwhile.
  const first = new Tool(asClient(RPING, 15, ['-v']));
  await first.printed('rdma-ping-2');
  wentWell(await run(['rping', '-c', '-a', serverAt(15), '-I', clientAt(16), '-C', '3', '-V']));
  first.child.kill('SIGINT');
  assert.equal((await first.ended).code, 130);
  server.child.kill('SIGINT');
  await server.ended;
});

test('a second client of a server without -P is refused', async () => {
  const server = await serve(RPING, 17);
  const first = new Tool(asClient(RPING, 17, ['-v']));
  await first.printed('rdma-ping-0');
  const second = await run(['rping', '-c', '-a', serverAt(17), '-I', clientAt(18)]);
  assert.equal(second.code, 255);
  assert.match(second.stderr, /^cma event RDMA_CM_EVENT_REJECTED, error 28\n.*turned it down.*\.\n$/);
  first.child.kill('SIGINT');
  wentWell(await server.ended);
});

test('Ctrl-C at the client ends the server, well', async () => {
  const server = await serve(RPING, 19);
  const client = new Tool(asClient(RPING, 19, ['-v']));
  await client.printed('rdma-ping-3');
  client.child.kill('SIGINT');
  assert.equal((await client.ended).code, 130);
  const { code, stderr } = await server.ended;
  assert.deepEqual([code, stderr.split('\n')[0]], [0, 'server DISCONNECT EVENT...']);
});

test('Ctrl-C at the server ends the client, well', async () => {
  const server = await serve(RPING, 20);
  const client = new Tool(asClient(RPING, 20, ['-v']));
  await client.printed('rdma-ping-3');
  server.child.kill('SIGINT');
  assert.equal((await server.ended).code, 130);
  const { code, stderr } = await client.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^client DISCONNECT EVENT\.\.\.\nwait for RDMA_\w+ state 10\n$/);
});

test('a client whose server dies says so', async () => {
  // One that dies between its answers leaves a client that waits, and has nothing to find that out by.
  const program = fileURLToPath(new URL('./vanishing-server.js', import.meta.url));
  const server = spawn(process.execPath, [program, serverAt(21), '7174'], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout, 'data');
  const { code, stderr } = await run(asClient(RPING, 21), IMPATIENT);
  // Whichever comes first: the completion, or the event that the connection manager raises for a process that is gone.
  if (code === 0) assert.match(stderr, /^client DISCONNECT EVENT\.\.\.\nwait for RDMA_\w+ state 10\n/m);
  else assert.match(stderr, /^cq completion failed status 12\n.+\nwait for RDMA_WRITE_ADV state 11\n/m);
  assert.ok(code === 0 || code === 255, stderr);
});

test('a server that has less room than the client sends says which option it needs', async () => {
  const { server, client } = await play(RPING, 22, ['-S', '64'], ['-S', '100', '-C', '1']);
  assert.equal(server.code, 255);
  assert.match(server.stderr, /^The client's pings have 100 bytes, and this side has room for 64: give both .*-S\.\n/);
  assert.equal(client.code, 0, client.stderr);
});

test('a client of a port where nothing listens says so', async () => {
  const server = await serve(RPING, 23, ['-p', '7000']);
  const { code, stderr } = await run(asClient(RPING, 23, ['-p', '7001']));
  assert.equal(code, 255);
  assert.match(stderr, /^cma event RDMA_CM_EVENT_REJECTED, error 8\nNothing listens at that port there; .+\n$/);
  server.child.kill('SIGINT');
  await server.ended;
});

test('a second server at the same address says that it is taken', async () => {
  const server = await serve(RPING, 24);
  const { code, stderr } = await run(['rping', '-s', '-a', serverAt(24)]);
  assert.equal(code, 1);
  assert.match(stderr, /^rdma_bind_addr: .*\(EADDRINUSE\)/);
  server.child.kill('SIGINT');
  await server.ended;
});

test('a server that was given no address says where it is', async () => {
  const server = new Tool(['rping', '-s', '-p', '7002'], { VERBENA_ADDR: serverAt(25) });
  await once(server.child.stderr, 'data');
  server.child.kill('SIGINT');
  const { stderr } = await server.ended;
  assert.equal(stderr, `server at ${serverAt(25)}, port 7002\n`);
});

const MISUSES = [
  { name: 'neither side', flags: [], code: 22, says: /-s.*-c/ },
  { name: 'both sides', flags: ['-s', '-c'], code: 22, says: /-s.*-c/ },
  { name: 'a client without an address', flags: ['-c'], code: 22, says: /-a/ },
  { name: 'a size that is too small', flags: ['-s', '-S', '22'], code: 22, says: /from 23 to 65535/ },
  {
    name: 'an address that is not a host',
    // With an empty label, for which no resolver asks another machine.
    flags: ['-c', '-a', 'no.such..invalid'],
    code: 1,
    says: /^getaddrinfo failed/,
  },
  {
    name: "an address that is not this machine's",
    flags: ['-s', '-a', '192.0.2.1'],
    code: 1,
    says: /^rdma_bind_addr: /,
  },
];
for (const { name, flags, code, says } of MISUSES) {
  test(`${name}: refused with a sentence`, async () => {
    const ended = await run(['rping', ...flags]);
    assert.equal(ended.code, code, ended.stderr);
    assert.match(ended.stderr, says);
  });
}
