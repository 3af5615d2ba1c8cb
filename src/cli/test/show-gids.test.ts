import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, runWhenFree } from './tool.js';
import { formatGid, gidFromIp } from '../../entry/index.js';
import { loopback } from '../../../test/support/loopback.js';

const HEADING =
  'DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\n';

test("show_gids prints the table of NVIDIA's script", async () => {
  const { code, stdout } = await run(['show_gids', '--addr', loopback(1)]);
  const row = `verbena0\t1\t0\t${formatGid(gidFromIp(loopback(1)))}\t${loopback(1)}  \tv2\tlo\n`;
  assert.deepEqual({ code, stdout }, { code: 0, stdout: `${HEADING}${row}n_gids_found=1\n` });
});

test('show_gids leaves the IPv4 column of an IPv6 address empty', async (t) => {
  const { code, stdout, stderr } = await runWhenFree(['show_gids', 'verbena0', '--addr', '::1']);
  if (code !== 0) {
    t.skip(stderr);
    return;
  }
  const row = 'verbena0\t1\t0\t0000:0000:0000:0000:0000:0000:0000:0001\t\t\tv2\tlo\n';
  assert.equal(stdout, `${HEADING}${row}n_gids_found=1\n`);
});

test('show_gids --json prints an array', async () => {
  const { stdout } = await run(['show_gids', '--addr', loopback(2), '--json']);
  assert.deepEqual(JSON.parse(stdout), [
    {
      device: 'verbena0',
      port: 1,
      index: 0,
      gid: formatGid(gidFromIp(loopback(2))),
      ipv4: loopback(2),
      version: 'v2',
      netdev: 'lo',
    },
  ]);
});

test('show_gids refuses a device that is not there', async () => {
  const { code, stderr } = await run(['show_gids', 'mlx5_0']);
  assert.deepEqual({ code, stderr }, { code: 1, stderr: 'IB device mlx5_0 not found\n' });
});
