import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testOf } from '../ucx/perftest/tests.js';
import { finalRow, playUcx } from './ucx-perftest-play.js';
import { run } from './tool.js';

describe('ucx_perftest on transports by themselves', () => {
  for (const [game, [name, transport, layout, bytes]] of (
    [
      ['am_lat', 'ud_verbs', 'zcopy', '1000'],
      ['put_lat', 'rc', 'bcopy', '3000'],
      ['add_lat', 'rc_v', 'short', '8'],
    ] as const
  ).entries())
    it(`plays ${name} by ${transport}, ${layout}, with a server`, async () => {
      const flags = ['-t', name, '-x', transport, '-D', layout, '-s', bytes, '-I'];
      const { server, client } = await playUcx(game, flags);
      assert.equal(client.code, 0, client.stderr);
      assert.match(client.stdout, new RegExp(`^Final: .* {2}by ${transport.slice(0, 2)}, ${layout}$`, 'm'));
      assert.deepEqual({ code: server.code, stderr: server.stderr }, { code: 0, stderr: '' });
      assert.match(server.stdout, /^\| API: +transport layer +\|$/m);
      assert.match(server.stdout, new RegExp(`^\\| Test: +${testOf(name)?.title} +\\|$`, 'm'));
      assert.match(server.stdout, new RegExp(`^\\| Data layout: +${layout} +\\|$`, 'm'));
    });

  for (const [name, transport, layout, bytes] of [
    ['am_bw', 'rc', 'short', '200'],
    ['put_bw', 'rc', 'zcopy', '100000'],
    ['get', 'rc', 'zcopy', '100000'],
    ['add_mr', 'rc', 'short', '8'],
    ['fadd', 'rc', 'short', '8'],
    ['cswap', 'rc', 'short', '8'],
    ['swap', 'self', 'short', '4'],
    ['am_lat', 'self', 'bcopy', '0'],
  ] as const)
    it(`plays ${name} by ${transport}, ${layout}, with itself`, async () => {
      const flags = ['-l', '-t', name, '-x', transport, '-D', layout, '-s', bytes, '-n', '300', '-w', '4'];
      const row = finalRow(await run(['ucx_perftest', '--host', 'inline', ...flags]));
      assert.equal(row[0], 300);
    });

  for (const [flags, sentence] of [
    [['-t', 'am_lat'], 'am_lat is of UCT: give its transport by -x, rc, ud or self.'],
    [['-t', 'put_bw', '-x', 'ud'], 'ud has no RDMA: of the tests of UCT it does am_lat and am_bw.'],
    [['-t', 'swap', '-x', 'rc'], 'rc cannot do swap of 8 bytes: an adapter has add and compare-and-swap, of 8 bytes.'],
    [
      ['-t', 'put_lat', '-x', 'rc', '-s', '1000'],
      'put_lat by rc takes 256 bytes at most by -D short, not 1000; choose by -s or -D.',
    ],
    [['-t', 'get', '-x', 'rc'], 'What is read is never short: choose -D bcopy or -D zcopy.'],
    [['-t', 'fadd', '-x', 'rc', '-D', 'bcopy'], '-D bcopy is not for atomics: they are short.'],
    [['-t', 'am_lat', '-x', 'rc', '-d', 'mlx5_0'], 'IB device mlx5_0 not found'],
  ] as const)
    it(`refuses ${flags.join(' ')}`, async () => {
      const { code, stderr } = await run(['ucx_perftest', '-l', ...flags]);
      assert.deepEqual({ code, stderr }, { code: 1, stderr: `${sentence}\n` });
    });

  it('refuses self where there is a server', async () => {
    const { code, stderr } = await run(['ucx_perftest', '-t', 'am_lat', '-x', 'self', '127.0.0.1']);
    assert.deepEqual({ code, stderr }, { code: 1, stderr: 'self leads to this process alone: give -l.\n' });
  });
});
