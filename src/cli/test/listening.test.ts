import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { afterEach, describe, mock, test } from 'node:test';
import { tellListening } from '../kit/listening.js';
import { loopback } from '../../../test/support/loopback.js';
import { freePort } from '../../../test/support/ports.js';
import { Tool } from './tool.js';

/** What is printed on standard error. */
function told(at: { host: string; port: number }, asked: string | undefined, addr?: string): string {
  const write = mock.method(process.stderr, 'write', () => true);
  tellListening(at, asked, addr === undefined ? {} : { addr });
  return write.mock.calls.map(({ arguments: [text] }) => String(text)).join('');
}

describe('a server says on standard error where it listens', () => {
  afterEach(() => mock.restoreAll());

  test('when it was told nothing and has another address than 127.0.0.1', () => {
    assert.equal(told({ host: '127.0.0.2', port: 7471 }, undefined), 'server at 127.0.0.2, port 7471\n');
    assert.equal(told({ host: '127.0.0.2', port: 7471 }, '0.0.0.0'), 'server at 127.0.0.2, port 7471\n');
  });

  test('but not when it is where the user expects it', () => {
    assert.equal(told({ host: '127.0.0.1', port: 7471 }, undefined), '');
    assert.equal(told({ host: '10.0.0.1', port: 7471 }, '10.0.0.1'), '');
    assert.equal(told({ host: '10.0.0.1', port: 7471 }, '0.0.0.0', '10.0.0.1'), '');
    assert.equal(told({ host: '10.0.0.1', port: 7471 }, undefined, '10.0.0.1'), '');
  });
});

const SERVERS: readonly (readonly string[])[] = [
  ['rdma_server'],
  ['rdma_xserver'],
  ['ucmatose'],
  ['udaddy'],
  ['udpong'],
  ['ib_send_bw', '-R'],
  ['ib_write_lat', '-z'],
  ['rping', '-s'],
  ['rstream'],
];

// Of its own, so that no other test has an address there. What is left in it ends with it.
const NAMESPACE = ['unshare', '-rnp', '--fork', '--kill-child'];
const isPossible = spawnSync(NAMESPACE[0], [...NAMESPACE.slice(1), 'ip', 'link', 'set', 'lo', 'up']).status === 0;
/** Starts the tool that is named once a NIC has 127.0.0.1. */
const BESIDE = 'ip link set lo up; "$1" "$2" rping -s -p 9 2>&1 | { read line; exec "$@"; }';

describe('where 127.0.0.1 is taken', { skip: isPossible ? false : 'no namespace can be made here' }, () => {
  for (const words of SERVERS)
    test(`${words.join(' ')} says where it is`, async () => {
      const server = new Tool(words, {}, [...NAMESPACE, 'sh', '-c', BESIDE, 'sh']);
      try {
        await server.complained('server at 127.0.0.2, port ');
      } finally {
        server.child.kill('SIGKILL');
        await server.ended;
      }
    });
});

test('a refusal names the other NICs of this user', async (context) => {
  const port = String(await freePort());
  const server = new Tool(['rping', '-s', '-a', loopback(1), '-p', port]);
  const other = new Tool(['rping', '-s', '-a', loopback(2), '-p', port]);
  context.after(async () => {
    server.child.kill('SIGKILL');
    other.child.kill('SIGKILL');
    await Promise.all([server.ended, other.ended]);
  });
  for (const words of [
    ['rdma_client', '-s', loopback(1), '-p', '1'],
    ['rping', '-c', '-a', loopback(1), '-p', '1'],
    ['ucmatose', '-s', loopback(1), '-p', '1'],
  ]) {
    // The server may not be there yet.
    let ended = await new Tool(words).ended;
    while (!/start the server|nobody listens|nothing listens/i.test(ended.stderr)) ended = await new Tool(words).ended;
    assert.match(ended.stderr, /Programs of this user have NICs at .*\(process \d+\)/, words.join(' '));
  }
});
