import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Waiting } from '../pingpong/loop/waiting.js';
import { clientAt, gidText, linesOf, play, pretendServer, readText, saidBy, serve, serverAt } from './pingpong-play.js';
import { type Ended, run } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

const UC = 'ibv_uc_pingpong';
const UD = 'ibv_ud_pingpong';

const CASES = [
  { tool: UC, name: '1 byte', flags: ['-s', '1'], bytes: 1 },
  { tool: UC, name: 'messages of many packets, of odd length, checked', flags: ['-s', '10271', '-c'], bytes: 10271 },
  { tool: UC, name: 'the NIC inline, sleeping on events', flags: ['--host', 'inline', '-e'], bytes: 4096 },
  { tool: UD, name: 'its own size', flags: [], bytes: 1024 },
  { tool: UD, name: 'receives posted one at a time, checked', flags: ['-r', '2', '-c', '-s', '4096'], bytes: 4096 },
  { tool: UD, name: 'the NIC inline', flags: ['--host', 'inline', '-s', '33'], bytes: 33 },
  { tool: UD, name: 'the thread sleeping on events', flags: ['-e'], bytes: 1024 },
];

/** The local line of the datagram tool has a colon where the others have a comma. */
function said(tool: string, { stdout }: Ended): string[] {
  const [local, remote] = stdout.split('\n');
  return [tool === UD ? local.replace(': GID', ', GID') : local, remote].map(saidBy);
}

for (const [index, { tool, name, flags, bytes }] of CASES.entries()) {
  test(`two sides of ${tool} play with ${name}`, async () => {
    const { server, client } = await play(tool, index, ['-n', '50', ...flags]);
    for (const ended of [server, client]) {
      assert.equal(linesOf(ended, { bytes: bytes * 100, iterations: 50 }).length, 2);
    }
    assert.match(said(tool, server)[0], new RegExp(`^QPN .* ::ffff:${serverAt(index)}$`));
    assert.deepEqual(said(tool, server), said(tool, client).reverse());
  });
}

test('the datagram tool prints its colon', async () => {
  const server = await serve(UD, String(await freePort()), 20, []);
  server.child.kill();
  const { stdout } = await server.ended;
  assert.match(
    stdout,
    new RegExp(
      `^ {2}local address: {2}LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}: GID ::ffff:${serverAt(20)}\n$`,
    ),
  );
});

test('a datagram longer than the link is refused', async () => {
  const { code, stderr } = await run([UD, '-p', String(await freePort()), '-s', '4097', '--host', 'inline']);
  assert.deepEqual({ code, stderr }, { code: 1, stderr: 'Requested size larger than port MTU (4096)\n' });
});

for (const [tool, flag] of [
  [UD, '-m'],
  [UC, '-o'],
  [UC, '-t'],
] as const) {
  test(`${tool} has no ${flag}, as the C tool`, async () => {
    const { code, stderr } = await run([tool, flag]);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`unknown option '${flag}'`));
  });
}

test('a GID index that is not there is refused in the words of each tool', async () => {
  const port = String(await freePort());
  const [uc, ud] = await Promise.all([
    run([UC, '-p', port, '-g', '9', '--host', 'inline']),
    run([UD, '-p', String(await freePort()), '-g', '9', '--host', 'inline']),
  ]);
  assert.match(uc.stderr, /^can't read sgid of index 9: /);
  assert.match(ud.stderr, /^Could not get local gid for gid index 9: /);
});

for (const tool of [UC, UD]) {
  test(`a client of ${tool} whose server never answers ends by Ctrl-C`, async () => {
    const { client, socket, close } = await pretendServer((port) => [
      tool,
      ...['-p', port, '--addr', clientAt(30), '127.0.0.1'],
    ]);
    assert.match(await readText(socket, 52), new RegExp(`^0000:[0-9a-f]{6}:[0-9a-f]{6}:${gidText(clientAt(30))}\0$`));
    socket.write(`0000:000011:000000:${gidText(serverAt(30))}\0`);
    assert.equal(await readText(socket, 5), 'done\0');
    await client.printed('remote address');
    client.child.kill('SIGINT');
    const { code, stdout, stderr } = await client.ended;
    close();
    assert.deepEqual({ code, stderr }, { code: 130, stderr: '' });
    // Nothing came, so there is nothing to report.
    assert.doesNotMatch(stdout, /usec/);
  });
}

test('silence is told once, with what it may mean', () => {
  let polls = 0;
  const told: string[] = [];
  const cq = {
    poll: () => {
      polls += 1;
      return polls < 5000 ? [] : [completion];
    },
  };
  const waiting = new Waiting({ host: 'inline' }, [cq], undefined, {
    meaning: 'a packet may be lost',
    ms: 0,
    tell: (text) => told.push(text),
  });
  assert.deepEqual(waiting.next(1), [completion]);
  assert.deepEqual(told, ['Nothing has come from the peer for 0 s; a packet may be lost.\n']);
});

const completion = {
  wrId: 1n,
  status: 0,
  opcode: 128,
  vendorErr: 0,
  byteLen: 1,
  immData: 0,
  invalidatedRkey: 0,
  qpNum: 17,
  srcQp: 0,
  wcFlags: 0,
  pkeyIndex: 0,
  slid: 0,
  sl: 0,
  dlidPathBits: 0,
  detail: [],
} as const;
