import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alloc, listen } from '../../entry/index.js';
import { loopback } from '../../../test/support/loopback.js';
import { type Ended, Tool, run } from './tool.js';

const serverAt = (game: number): string => loopback(4 * game + 1);
const clientAt = (game: number): string => loopback(4 * game + 2);

/** Plays `rdma_client` against `rdma_server`, or the pair with an x. */
async function play(
  game: number,
  pair: '' | 'x',
  flags: readonly string[] = [],
): Promise<{ server: Ended; client: Ended }> {
  const server = new Tool([`rdma_${pair}server`, '--addr', serverAt(game), ...flags]);
  await server.printed('start');
  const client = run([`rdma_${pair}client`, '-s', serverAt(game), '--addr', clientAt(game), ...flags]);
  return { server: await server.ended, client: await client };
}

const CASES: readonly { name: string; pair: '' | 'x'; flags?: readonly string[] }[] = [
  { name: 'exchange a message', pair: '' },
  { name: 'exchange a message, their NICs inline', pair: '', flags: ['--host', 'inline'] },
  { name: 'exchange a message at another port', pair: '', flags: ['-p', '7000'] },
  { name: 'pass a message over RC', pair: 'x' },
  { name: 'pass a message over RC that was asked for', pair: 'x', flags: ['-c', 'r'] },
  { name: 'pass a message over XRC', pair: 'x', flags: ['-c', 'x'] },
  { name: 'pass a message over XRC, their NICs inline', pair: 'x', flags: ['-c', 'XRC', '--host', 'inline'] },
];
for (const [game, { name, pair, flags }] of CASES.entries()) {
  test(`two processes ${name}`, async () => {
    const { server, client } = await play(game, pair, flags);
    const stdout = (side: string): string => `rdma_${pair}${side}: start\nrdma_${pair}${side}: end 0\n`;
    assert.deepEqual(server, { code: 0, signal: null, stdout: stdout('server'), stderr: '' });
    assert.deepEqual(client, { code: 0, signal: null, stdout: stdout('client'), stderr: '' });
  });
}

test('a server listens at an address that it was told', async () => {
  const server = new Tool(['rdma_server', '-s', serverAt(10)]);
  await server.printed('start');
  const client = await run(['rdma_client', '-s', serverAt(10), '--addr', clientAt(10)]);
  assert.deepEqual([client.code, (await server.ended).code], [0, 0]);
});

test('without an address two sides on one machine find two', async () => {
  const port = String(20_000 + (process.pid % 40_000));
  const server = new Tool(['rdma_server', '-s', serverAt(11), '-p', port]);
  await server.printed('start');
  const client = await run(['rdma_client', '-s', serverAt(11), '-p', port]);
  assert.deepEqual([client.code, (await server.ended).code], [0, 0]);
});

test('sides that differ in what they connect do not, and say why', async () => {
  const server = new Tool(['rdma_xserver', '--addr', serverAt(12), '-c', 'x']);
  await server.printed('start');
  const { code, stdout, stderr } = await run(['rdma_xclient', '-s', serverAt(12), '--addr', clientAt(12), '-c', 'r']);
  server.child.kill('SIGINT');
  assert.equal((await server.ended).signal, 'SIGINT');
  assert.deepEqual({ code, stdout }, { code: 255, stdout: 'rdma_xclient: start\nrdma_xclient: end -1\n' });
  assert.match(stderr, /^rdma_connect: .*\(ECONNREFUSED\)/);
});

for (const [i, hosting] of ['thread', 'inline'].entries()) {
  test(`Ctrl-C ends a client whose message nobody answers, hosted ${hosting}, and the peer hears of it`, async () => {
    const at = 13 + i;
    using listener = listen({ host: serverAt(at), port: 7471 });
    const client = new Tool(['rdma_client', '-s', serverAt(at), '--addr', clientAt(at), '--host', hosting]);
    const request = await listener[Symbol.asyncIterator]().next();
    assert.ok(request.done !== true);
    const connection = await request.value.accept();
    connection.id.postRecv(0, connection.regMsgs(alloc(16)).sge());
    await connection.recvComp();
    client.child.kill('SIGINT');
    await connection.closed;
    const { code, stdout, stderr } = await client.ended;
    assert.deepEqual({ code, stdout, stderr }, { code: 130, stdout: 'rdma_client: start\n', stderr: '' });
    await connection.close();
  });
}

test('a host that does not exist is named', async () => {
  // With an empty label, for which no resolver asks another machine.
  const { code, stdout, stderr } = await run(['rdma_client', '-s', 'no-such-host..invalid']);
  assert.deepEqual({ code, stdout }, { code: 255, stdout: 'rdma_client: start\nrdma_client: end -1\n' });
  assert.match(stderr, /no-such-host\.\.invalid/);
});

test('a communication type that does not exist is refused', async () => {
  const { code, stderr } = await run(['rdma_xclient', '-c', 'u']);
  assert.equal(code, 1);
  assert.match(stderr, /It is r \(RC\) or x \(XRC\)\./);
});
