import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Socket, connect, createServer } from 'node:net';
import { test } from 'node:test';
import { clientAt, gidText, linesOf, play as playTool, saidBy, serverAt } from './pingpong-play.js';
import { type Ended, IMPATIENT, Tool, run } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

const play = (game: number, flags: readonly string[], clientFlags: readonly string[] = []) =>
  playTool('ibv_rc_pingpong', game, flags, clientFlags);

const CASES = [
  { name: '1 byte', flags: ['-s', '1'], bytes: 1 },
  { name: 'a message of many packets, of odd length', flags: ['-s', '10271', '-m', '256'], bytes: 10271 },
  { name: '1 MiB, validated', flags: ['-s', '0x100000', '-c'], bytes: 1 << 20 },
  { name: 'sleeping on events', flags: ['-e'], bytes: 4096 },
  { name: 'the newer posting calls', flags: ['-N'], bytes: 4096 },
  { name: 'memory on demand, prefetched', flags: ['-o', '-P'], bytes: 4096 },
  { name: 'receives posted one at a time', flags: ['-r', '2'], bytes: 4096 },
  { name: 'the NIC inline', flags: ['--host', 'inline'], bytes: 4096 },
  { name: 'the NIC inline, sleeping on events', flags: ['--host', 'inline', '-e'], bytes: 4096 },
];

for (const [index, { name, flags, bytes }] of CASES.entries()) {
  test(`two sides play with ${name}`, async () => {
    const { server, client } = await play(index, ['-n', '50', ...flags]);
    for (const ended of [server, client]) {
      const lines = linesOf(ended, { bytes: bytes * 100, iterations: 50 });
      assert.deepEqual(
        lines.map((line) => line.replace(/:.*/, '')),
        ['  local address', '  remote address'],
      );
    }
  });
}

test('each side prints what the other is', async () => {
  const { server, client } = await play(20, ['-n', '5']);
  const said = ({ stdout }: Ended): string[] => stdout.split('\n').slice(0, 2).map(saidBy);
  assert.match(said(server)[0], new RegExp(`^QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6} ::ffff:${serverAt(20)}$`));
  assert.deepEqual(said(server), said(client).reverse());
});

test('-t tells how far apart completions were', async () => {
  const { client } = await play(22, ['-n', '20', '-t']);
  const lines = linesOf(client, { bytes: 4096 * 40, iterations: 20 }).slice(2);
  const [max, min, average] = lines.map((line) => Number(/ = (\d+(?:\.\d{6})?)$/.exec(line)?.[1]));
  assert.deepEqual(
    lines.map((line) => line.replace(/ = .*/, '')),
    ['Max', 'Min', 'Average'].map((which) => `${which} receive completion clock cycles`),
  );
  assert.ok(min > 0 && min <= average && average <= max, lines.join());
});

test('--json prints one object', async () => {
  const { client } = await play(21, ['-n', '5'], ['--json']);
  const facts = JSON.parse(client.stdout) as { iterations: number; local: { gid: string }; remote: { gid: string } };
  assert.equal(facts.iterations, 5);
  assert.deepEqual([facts.local.gid, facts.remote.gid], [`::ffff:${clientAt(21)}`, `::ffff:${serverAt(21)}`]);
});

test('without an address two sides on one machine find two', async () => {
  const port = String(await freePort());
  const server = new Tool(['ibv_rc_pingpong', '-p', port, '-n', '5']);
  await server.printed('local address');
  const client = await run(['ibv_rc_pingpong', '-p', port, '-n', '5', 'localhost']);
  assert.equal(client.code, 0, client.stderr);
  assert.equal((await server.ended).code, 0);
});

test('a client writes its 52 bytes first, and done only after the answer', async () => {
  const listener = createServer().listen(0);
  await once(listener, 'listening');
  const address = listener.address();
  assert.ok(address !== null && typeof address === 'object');
  const args = ['ibv_rc_pingpong', '-p', String(address.port), '--addr', clientAt(30), '127.0.0.1'];
  const client = new Tool(args, IMPATIENT);
  const [socket] = (await once(listener, 'connection')) as [Socket];
  const [first] = (await once(socket, 'data')) as [Buffer];
  assert.match(first.toString('latin1'), new RegExp(`^0000:[0-9a-f]{6}:[0-9a-f]{6}:${gidText(clientAt(30))}\0$`));
  socket.write(`0000:000011:000000:${gidText(serverAt(30))}\0`);
  const [second] = (await once(socket, 'data')) as [Buffer];
  assert.equal(second.toString('latin1'), 'done\0');
  // Nobody plays: the client's first send runs out of retries.
  const { code, stderr } = await client.ended;
  assert.equal(code, 1);
  assert.match(stderr, /^Failed status transport retry count exceeded \(12\) for wr_id 2: .+\n$/m);
  listener.close();
});

test('a server answers 52 bytes with 52', async () => {
  const port = await freePort();
  const server = new Tool(['ibv_rc_pingpong', '-p', String(port), '--addr', serverAt(31)]);
  await server.printed('local address');
  const socket = connect(port, '127.0.0.1');
  socket.write(`0000:000011:000000:${gidText(clientAt(31))}\0`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.match(answer.toString('latin1'), new RegExp(`^0000:[0-9a-f]{6}:[0-9a-f]{6}:${gidText(serverAt(31))}\0$`));
  socket.destroy();
  const { code, stderr } = await server.ended;
  assert.equal(code, 1);
  assert.match(stderr, /Couldn't read the end of the exchange/);
});

const REFUSALS = [
  { name: 'a peer without a GID', gid: '0'.repeat(32), says: /^The peer sent no GID.*-g INDEX/ },
  {
    name: 'a peer of the other address family',
    gid: `fd${'0'.repeat(29)}1`,
    says: /^The peer's GID is fd00::1 and ours/,
  },
];
for (const [index, { name, gid, says }] of REFUSALS.entries()) {
  test(`a server refuses ${name}`, async () => {
    const port = await freePort();
    const server = new Tool(['ibv_rc_pingpong', '-p', String(port), '--addr', serverAt(40 + index)]);
    await server.printed('local address');
    connect(port, '127.0.0.1').write(`0000:000011:000000:${gid}\0`);
    const { code, stderr } = await server.ended;
    assert.equal(code, 1);
    assert.match(stderr, says);
  });
}

test('a client without a server says so', async () => {
  const port = await freePort();
  const { code, stderr } = await run(['ibv_rc_pingpong', '-p', String(port), '127.0.0.1']);
  assert.equal(code, 1);
  assert.match(stderr, /^Couldn't connect to 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/);
});

test('a host that does not exist is told from one without a server', async () => {
  // With an empty label, for which no resolver asks another machine.
  const { code, stderr } = await run(['ibv_rc_pingpong', 'no-such-host..invalid']);
  assert.equal(code, 1);
  assert.match(stderr, /^Couldn't connect to no-such-host\.\.invalid:18515 \(\w+\); no host of that name is known\n$/);
});

test('a server whose TCP port is taken says so', async () => {
  const holder = createServer().listen(0);
  await once(holder, 'listening');
  const address = holder.address();
  assert.ok(address !== null && typeof address === 'object');
  const { code, stderr } = await run(['ibv_rc_pingpong', '-p', String(address.port)]);
  holder.close();
  assert.equal(code, 1);
  assert.match(stderr, /^Couldn't listen to port \d+ \(EADDRINUSE\)/);
});

const REFUSED = [
  { flags: ['-O'], says: "The device doesn't support implicit ODP\n" },
  { flags: ['-P'], says: 'prefetch is valid only with on-demand memory region\n' },
  { flags: ['-j'], says: "Device doesn't support dm allocation\n" },
  { flags: ['-j', '-O'], says: "DM memory region can't be on demand\n" },
  { flags: ['-U', '-o'], says: 'CoCo unprotected memory cannot be used with ODP\n' },
];
for (const { flags, says } of REFUSED) {
  test(`${flags.join(' ')} answers as the C tool on a device without it`, async () => {
    const port = String(await freePort());
    const { code, stderr } = await run(['ibv_rc_pingpong', '-p', port, '--host', 'inline', ...flags]);
    assert.deepEqual({ code, stderr }, { code: 1, stderr: says });
  });
}

test('a path MTU that does not exist is refused', async () => {
  const { code, stderr } = await run(['ibv_rc_pingpong', '-m', '1500']);
  assert.equal(code, 1);
  assert.match(stderr, /'1500' is invalid\. A path MTU is 256, 512, 1024, 2048 or 4096\.$/m);
});
