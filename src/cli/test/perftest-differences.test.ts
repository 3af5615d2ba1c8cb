import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Played, playTest, rowsOf } from './perftest-play.js';
import { clientAt, serverAt } from './pingpong-play.js';
import { Tool, run } from './tool.js';
import { freePort } from '../../../test/support/ports.js';

// What the user hears when the two sides were not given the same.

async function playUnlike(game: number, atServer: readonly string[], atClient: readonly string[]): Promise<Played> {
  const port = String(await freePort());
  const server = new Tool([...atServer, '--no-warm-up', '-p', port, '--addr', serverAt(game)]);
  await server.printed('Waiting for client');
  const client = await run([...atClient, '--no-warm-up', '-p', port, '--addr', clientAt(game), serverAt(game)]);
  return { server: await server.ended, client };
}

/** What stands below the heading of the table, but for keys. */
function rowsAfterHeading(stdout: string): string[] {
  const [, below = ''] = stdout.split('#bytes');
  return below
    .split('\n')
    .slice(1)
    .filter((line) => /^ \d/.test(line));
}

test('a side that gets shorter messages than it expects says that its figures are wrong', async () => {
  const { server, client } = await playTest('ib_send_bw', 0, ['-n', '20'], { client: ['-s', '1K'] });
  assert.equal(rowsOf(client)[0][0], '1024');
  assert.equal(server.code, 0);
  assert.match(server.stderr, /^The peer sends 1024 bytes where 65536 were expected, .*give both sides the same -s/);
});

test('so does each side of a latency test', async () => {
  const { server } = await playTest('ib_send_lat', 1, ['-n', '20'], { server: ['-s', '8'], client: ['-s', '2'] });
  assert.match(server.stderr, /^The peer sends 2 bytes where 8 were expected/);
});

test('the header before a datagram does not count as message', async () => {
  const { server, client } = await playTest('ib_send_lat', 2, ['-c', 'UD', '-n', '20', '-s', '8']);
  assert.deepEqual([server.stderr, client.stderr], ['', '']);
});

const REFUSED = [
  {
    what: 'longer messages',
    server: ['ib_send_bw', '-s', '1K'],
    client: ['ib_send_bw'],
    why: /remote invalid request/,
  },
  { what: 'longer WRITEs', server: ['ib_write_bw', '-s', '1K'], client: ['ib_write_bw'], why: /remote access error/ },
  { what: 'another test', server: ['ib_read_bw'], client: ['ib_write_bw'], why: /remote invalid request/ },
];
for (const [index, { what, server, client, why }] of REFUSED.entries()) {
  test(`a client of ${what} is told that both sides need the same, and the server where to look`, async () => {
    const played = await playUnlike(3 + index, server, client);
    assert.equal(played.client.code, 1);
    assert.match(played.client.stderr, why);
    assert.match(played.client.stderr, /\nBoth sides need the same tool and the same options/);
    assert.equal(played.server.code, 1);
    assert.match(played.server.stderr, /the peer closed the connection, and may have printed why|Both sides need/);
  });
}

const COUNTS = [
  { tool: 'ib_send_bw', server: '1', client: '2' },
  { tool: 'ib_send_bw', server: '3', client: '2' },
  { tool: 'ib_write_bw', server: '1', client: '2' },
  { tool: 'ib_write_bw', server: '2', client: '1' },
  { tool: 'ib_read_bw', server: '1', client: '2' },
  { tool: 'ib_atomic_bw', server: '2', client: '1' },
];
for (const [index, { tool, server, client }] of COUNTS.entries()) {
  test(`${tool} with -q ${server} at the server and ${client} at the client: who sees it says so, and both fail`, async () => {
    const played = await playUnlike(10 + index, [tool, '-n', '100', '-q', server], [tool, '-n', '100', '-q', client]);
    assert.deepEqual([played.server.code, played.client.code], [1, 1]);
    const told = played.server.stderr + played.client.stderr;
    assert.match(told, /The peer has another number of queue pairs than this side: give both the same -q/);
    // No figures of a run that was none.
    assert.deepEqual(rowsAfterHeading(played.server.stdout), []);
  });
}

test('a server of which fewer messages come than it was told to expect fails', async () => {
  const { server } = await playUnlike(20, ['ib_send_bw', '-n', '200'], ['ib_send_bw', '-n', '100']);
  assert.equal(server.code, 1);
  assert.match(server.stderr, /^100 messages did not come: the peer sends fewer; give both sides the same options\.$/m);
});
