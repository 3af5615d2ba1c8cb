import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { loopback } from '../../../test/support/loopback.js';
import { freePort } from '../../../test/support/ports.js';
import { Tool } from './tool.js';

/** Runs a client against a server until both have printed a text, and interrupts the client. */
async function interrupted(
  serverWords: readonly string[],
  clientWords: readonly string[],
  { ready, until, signal = 'SIGINT' }: { ready: string; until: string; signal?: NodeJS.Signals },
): Promise<{ code: number | null; stdout: string }> {
  const server = new Tool(serverWords);
  try {
    await server.printed(ready);
    const client = new Tool(clientWords);
    await client.printed(until);
    client.child.kill(signal);
    const { code, stdout } = await client.ended;
    return { code, stdout };
  } finally {
    server.child.kill('SIGKILL');
    await server.ended;
  }
}

const MEASURED = [
  { name: 'ib_write_bw', flags: ['-D', '1000'], signal: 'SIGTERM', exit: 143 },
  { name: 'ib_send_lat', flags: ['-n', '100000000'], signal: 'SIGINT', exit: 130 },
  { name: 'ib_read_bw', flags: ['-R', '-D', '1000'], signal: 'SIGINT', exit: 130 },
] as const;

describe('an interrupted tool prints what it has, and exits as the signal would have it', () => {
  test('cmtime: the steps that are over', async () => {
    const at = loopback(1);
    const { code, stdout } = await interrupted(
      ['cmtime', '-b', at],
      ['cmtime', '-s', at, '--addr', loopback(2), '-c', '100000'],
      { ready: 'listening', until: 'resolving address' },
    );
    assert.equal(code, 130);
    assert.match(stdout, /\ncreate id {4}: +\d/);
    assert.doesNotMatch(stdout, /\nresolve addr {2}:/);
  });

  for (const [i, { name, flags, signal, exit }] of MEASURED.entries())
    test(`${name} ${flags.join(' ')}`, async () => {
      const port = String(await freePort());
      const common = [name, '--no-warm-up', '-p', port, ...flags];
      const at = loopback(2 * i + 3);
      const { code, stdout } = await interrupted(
        [...common, '--addr', at],
        [...common, '--addr', loopback(2 * i + 4), at],
        { ready: 'Waiting for client', until: ' #bytes', signal },
      );
      assert.equal(code, exit);
      assert.match(stdout, / #bytes .*\n/);
    });

  test('ib_write_bw --json: an object that says so', async () => {
    const port = String(await freePort());
    const [at, from] = [loopback(20), loopback(21)];
    const common = ['ib_send_bw', '--no-warm-up', '-p', port, '-D', '1000'];
    const server = new Tool([...common, '--addr', at]);
    try {
      await server.printed('Waiting for client');
      const client = new Tool([...common, '--addr', from, '--json', at]);
      // The server's heading is printed when both are about to measure.
      await server.printed(' #bytes');
      client.child.kill('SIGINT');
      const { code, stdout } = await client.ended;
      assert.equal(code, 130);
      assert.equal((JSON.parse(stdout) as { interrupted: boolean }).interrupted, true);
    } finally {
      server.child.kill('SIGKILL');
      await server.ended;
    }
  });

  test('ucx_perftest: its heading comes before the warm-up', async () => {
    const port = String(await freePort());
    const { code, stdout } = await interrupted(
      ['ucx_perftest', '-p', port],
      ['ucx_perftest', '-p', port, '-t', 'tag_bw', '-w', '100000000', '127.0.0.1'],
      { ready: 'Waiting', until: '# iterations' },
    );
    assert.equal(code, 130);
    assert.doesNotMatch(stdout, /Final/);
  });

  test('ibv_rc_pingpong: the messages so far', async () => {
    const port = String(await freePort());
    const at = loopback(22);
    const common = ['ibv_rc_pingpong', '-p', port, '-n', '100000000'];
    const { code } = await interrupted([...common, '--addr', at], [...common, '--addr', loopback(23), at], {
      ready: 'local address',
      until: 'remote address',
    });
    assert.equal(code, 130);
  });
});

describe('the child of a tool ends with it', () => {
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const)
    test(`a lab, after ${signal}`, async () => {
      const lab = new Tool(['lab', '3', 'receiver', loopback(30)]);
      await lab.printed('receiver at');
      // The lab's process has the pipe of the tool's output as well: it closes with the last of both.
      const closed = once(lab.child.stdout, 'close');
      lab.child.kill(signal);
      await closed;
    });

  test('the receiver of a transfer, after SIGKILL', async () => {
    const transfer = new Tool(['transfer', '--size', '4096', '--from', loopback(31), '--to', loopback(32)]);
    await transfer.printed('Moving');
    const closed = once(transfer.child.stdout, 'close');
    transfer.child.kill('SIGKILL');
    await closed;
  });

  test('the server of kv bench, after SIGKILL', async () => {
    const bench = new Tool(['kv', 'bench', '--keys', '1000']);
    await bench.printed('client of');
    const closed = once(bench.child.stderr, 'close');
    bench.child.kill('SIGKILL');
    await closed;
  });
});
