import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { clientAt, gidText, pretendServer, readText, serverAt } from './pingpong-play.js';
import { type Ended, Tool, run } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

const XSRQ = 'ibv_xsrq_pingpong';
const DESTINATION_BYTES = 66;

const ADDRESS_LINE =
  /^ {2}(?: local|remote): LID 0000, (QPN RECV [0-9a-f]{6} SEND [0-9a-f]{6}, PSN [0-9a-f]{6}, SRQN [0-9a-f]{6}, GID \S+)$/;

const folder = mkdtempSync(join(tmpdir(), 'verbena-xsrq-'));
after(() => rmSync(folder, { recursive: true }));

/** Runs a client once the server, which prints nothing before one comes, has begun to listen. */
async function runClient(server: Tool, args: readonly string[]): Promise<Ended> {
  for (;;) {
    const ended = await run(args);
    if (!ended.stderr.startsWith("Couldn't connect") || server.child.exitCode !== null) return ended;
  }
}

/** A server and its clients, three at most. */
async function play(
  game: number,
  clients: number,
  flags: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<{ server: Ended; clients: Ended[] }> {
  const port = String(await freePort());
  const common = [XSRQ, '-p', port, ...flags];
  const server = new Tool([...common, '--addr', serverAt(game), '-c', String(clients)], settings);
  const ends = Array.from({ length: clients }, (_, i) =>
    runClient(server, [...common, '--addr', clientAt(game, i), '127.0.0.1']),
  );
  const ended = await Promise.all(ends);
  return { server: await server.ended, clients: ended };
}

/** What a side says of both, for each of its peers; all went well. */
function saidBy({ code, stdout, stderr }: Ended, first: 'local' | 'remote'): string[] {
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const lines = stdout.split('\n');
  assert.deepEqual(lines.splice(-2), ['success', '']);
  const pairs = Array.from({ length: lines.length / 2 }, (_, i) => lines.slice(2 * i, 2 * i + 2));
  return pairs.map((pair) => {
    assert.match(pair[0], new RegExp(`^ *${first}: `));
    assert.notEqual(pair[0].slice(0, 8), pair[1].slice(0, 8));
    const [local, remote] = pair.sort().map((line) => ADDRESS_LINE.exec(line)?.[1] ?? line);
    return first === 'local' ? `${local} | ${remote}` : `${remote} | ${local}`;
  });
}

const CASES = [
  { name: 'one client', clients: 1, flags: [] },
  { name: 'one client, sleeping on events, memory on demand', clients: 1, flags: ['-e', '-o', '-s', '10271'] },
  { name: 'two clients, the NICs inline', clients: 2, flags: ['--host', 'inline', '-n', '40', '-s', '1'] },
  { name: 'three clients, sleeping on events', clients: 3, flags: ['-e', '-n', '20'] },
];

for (const [index, { name, clients, flags }] of CASES.entries()) {
  test(`a server of ${XSRQ} plays with ${name}`, async () => {
    const played = await play(index, clients, flags);
    const told = saidBy(played.server, 'remote');
    assert.equal(told.length, clients);
    assert.deepEqual(told.sort(), played.clients.flatMap((client) => saidBy(client, 'local')).sort());
  });
}

const version = spawnSync('tshark', ['--version'], { encoding: 'utf8' });

test('three clients, whose packets dump and tshark read', async (t) => {
  const file = join(folder, 'xrc.pcapng');
  const { server } = await play(20, 3, ['-s', '3000', '--json'], { VERBENA_PCAP: file });
  const facts = JSON.parse(server.stdout) as {
    success: boolean;
    peers: { local: { srqn: number }; remote: { gid: string } }[];
  };
  assert.equal(facts.success, true);
  assert.deepEqual(
    facts.peers.map(({ remote }) => remote.gid).sort(),
    [0, 1, 2].map((client) => `::ffff:${clientAt(20, client)}`).sort(),
  );
  const dumped = await run(['dump', file]);
  assert.equal(dumped.code, 0, dumped.stderr);
  const srqn = facts.peers[0].local.srqn.toString(16).padStart(6, '0');
  const requests = dumped.stdout.split('\n').filter((line) => line.includes(`xrceth{srqn=0x${srqn}}`));
  assert.match(
    requests[0],
    new RegExp(`> ${serverAt(20)} XRC_SEND_FIRST qpn=0x[0-9a-f]{6} psn=0x[0-9a-f]{6} xrceth.* icrc=ok$`),
  );
  assert.match(dumped.stdout, / XRC_ACKNOWLEDGE .* aeth\{ACK msn=5\} /);
  if (version.error) {
    t.diagnostic('tshark is not installed, so there is nobody to compare with');
    return;
  }
  const args = ['-n', '-r', file, '-Y', '_ws.malformed || !infiniband.bth'];
  const { stdout, status } = spawnSync('tshark', args, { encoding: 'utf8' });
  assert.deepEqual({ stdout, status }, { stdout: '', status: 0 });
});

test('a client writes its 66 bytes, and END to its end', async () => {
  const { client, socket, close } = await pretendServer((port) => [
    XSRQ,
    ...['-p', port, '--addr', clientAt(30), '127.0.0.1'],
  ]);
  const text = await readText(socket, DESTINATION_BYTES);
  assert.match(text, new RegExp(`^0000(:[0-9a-f]{6}){4}:${gidText(clientAt(30))}\0$`));
  socket.write(`0000:000011:000012:000000:000013:${gidText(serverAt(30))}\0`);
  await client.printed(
    `remote: LID 0000, QPN RECV 000011 SEND 000012, PSN 000000, SRQN 000013, GID ::ffff:${serverAt(30)}`,
  );
  // Nobody plays: the client, which waits for the first message, is only silent.
  client.child.kill('SIGINT');
  const { signal, stderr } = await client.ended;
  assert.deepEqual({ signal, stderr }, { signal: 'SIGINT', stderr: '' });
  close();
});

test('a server refuses what is not an address', async () => {
  const port = await freePort();
  const server = new Tool([XSRQ, '-p', String(port), '--addr', serverAt(31)]);
  const socket = await connected(port);
  socket.write('x'.repeat(DESTINATION_BYTES));
  const { code, stderr } = await server.ended;
  socket.destroy();
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^The peer sent "x{66}" where LID:QPN:QPN:PSN:SRQN:GID was expected; is it an ibv_xsrq_pingpong\?\n$/,
  );
});

test('a server that waits for clients ends by Ctrl-C', async () => {
  const port = await freePort();
  const server = new Tool([XSRQ, '-p', String(port), '--addr', serverAt(32), '-c', '2']);
  const socket = await connected(port);
  server.child.kill('SIGINT');
  const { signal, stdout, stderr } = await server.ended;
  socket.destroy();
  assert.deepEqual({ signal, stdout, stderr }, { signal: 'SIGINT', stdout: '', stderr: '' });
});

/** A connection to a server that is about to listen. */
async function connected(port: number): Promise<Socket> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const outcome = await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined);
    if (outcome !== undefined && !socket.destroyed) return socket;
    socket.destroy();
  }
}
