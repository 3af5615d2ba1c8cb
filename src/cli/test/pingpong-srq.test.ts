import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { clientAt, gidText, linesOf, play, pretendServer, readText, saidBy, serve, serverAt } from './pingpong-play.js';
import { type Ended, run } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

const SRQ = 'ibv_srq_pingpong';
const NOBODY = `0000:000000:000000:${'0'.repeat(32)}\0`;
/** So many addresses are told, whatever -q says. */
const TOLD = 256;
const DESTINATION_BYTES = 52;

const CASES = [
  { name: 'the default 16 QPs', flags: [], qps: 16, bytes: 4096 },
  { name: 'one QP', flags: ['-q', '1', '-s', '1'], qps: 1, bytes: 1 },
  { name: 'three QPs, long messages, checked', flags: ['-q', '3', '-s', '10271', '-c'], qps: 3, bytes: 10271 },
  { name: 'as many receives as QPs', flags: ['-q', '4', '-r', '4', '-m', '256'], qps: 4, bytes: 4096 },
  { name: 'memory on demand, sleeping on events', flags: ['-q', '5', '-o', '-e'], qps: 5, bytes: 4096 },
  { name: 'the NIC inline', flags: ['-q', '2', '--host', 'inline', '-e'], qps: 2, bytes: 4096 },
];

for (const [index, { name, flags, qps, bytes }] of CASES.entries()) {
  test(`two sides of ${SRQ} play with ${name}`, async () => {
    const { server, client } = await play(SRQ, index, ['-n', '100', ...flags]);
    const said = (ended: Ended): string[] => linesOf(ended, { bytes: bytes * 200, iterations: 100 }).map(saidBy);
    const [ours, theirs] = [said(server), said(client)];
    assert.equal(ours.length, 2 * qps);
    assert.match(ours[0], new RegExp(`^QPN .* ::ffff:${serverAt(index)}$`));
    assert.deepEqual(ours, [...theirs.slice(qps), ...theirs.slice(0, qps)]);
  });
}

test('--json has all addresses', async () => {
  const { client } = await play(SRQ, 20, ['-n', '10', '-q', '2'], ['--json']);
  const facts = JSON.parse(client.stdout) as { local: { gid: string }[]; remote: { gid: string }[] };
  assert.deepEqual(
    [...facts.local, ...facts.remote].map(({ gid }) => gid),
    [clientAt(20), clientAt(20), serverAt(20), serverAt(20)].map((address) => `::ffff:${address}`),
  );
});

test('a client tells 256 addresses, and done only after as many were told', async () => {
  const { client, socket, close } = await pretendServer((port) => [
    SRQ,
    ...['-p', port, '-q', '2', '--addr', clientAt(30), '127.0.0.1'],
  ]);
  const text = await readText(socket, TOLD * DESTINATION_BYTES);
  const mine = new RegExp(`^(?:0000:[0-9a-f]{6}:[0-9a-f]{6}:${gidText(clientAt(30))}\0){2}$`);
  assert.match(text.slice(0, 2 * DESTINATION_BYTES), mine);
  assert.equal(text.slice(2 * DESTINATION_BYTES), NOBODY.repeat(TOLD - 2));
  const peer = `0000:000011:000000:${gidText(serverAt(30))}\0`;
  // The C tool writes them one by one.
  for (let i = 0; i < TOLD; i += 1) {
    socket.write(i < 2 ? peer : NOBODY);
    await setImmediate();
  }
  assert.equal(await readText(socket, 5), 'done\0');
  client.child.kill();
  await client.ended;
  close();
});

test('a peer with another number of QPs is refused', async () => {
  const port = await freePort();
  const server = await serve(SRQ, String(port), 31, ['-q', '2']);
  const peer = `0000:000011:000000:${gidText(clientAt(31))}\0`;
  const socket = connect(port, '127.0.0.1');
  socket.write(peer.repeat(3) + NOBODY.repeat(TOLD - 3));
  const { code, stderr } = await server.ended;
  socket.destroy();
  assert.deepEqual(
    { code, stderr },
    { code: 1, stderr: 'The peer has 3 QPs and this side 2: give both the same -q.\n' },
  );
});

const REFUSED = [
  {
    flags: ['-q', '5', '-r', '4'],
    says: 'rx_depth 4 is too small for 5 QPs -- must have at least one receive per QP.\n',
  },
  { flags: ['-q', '256'], says: 'num_qp 256 must be less than 256\n' },
];
for (const { flags, says } of REFUSED) {
  test(`${flags.join(' ')} is refused`, async () => {
    const { code, stderr } = await run([SRQ, ...flags]);
    assert.deepEqual({ code, stderr }, { code: 1, stderr: says });
  });
}
