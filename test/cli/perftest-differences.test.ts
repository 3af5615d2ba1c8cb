import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Played, playTest, rowsOf } from './perftest-play.js';
import { clientAt, serverAt } from './pingpong-play.js';
import { Tool, freePort, run } from './tool.js';

// What the user hears when the two sides were not given the same.

async function playUnlike(game: number, atServer: readonly string[], atClient: readonly string[]): Promise<Played> {
  const port = String(await freePort());
  const server = new Tool([...atServer, '-p', port, '--addr', serverAt(game)]);
  await server.printed('Waiting for client');
  const client = await run([...atClient, '-p', port, '--addr', clientAt(game), serverAt(game)]);
  return { server: await server.ended, client };
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
