import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loopback } from '../../../test/support/loopback.js';
import { checkWritable } from '../kit/new-file.js';
import { run, Tool } from './tool.js';

/** Where a file system that is soon full is mounted, in a namespace. */
const FULL = '/mnt';

function fullDiskProblem(): string | false {
  const { status } = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', FULL]);
  return status === 0 ? false : 'no file system can be mounted here';
}

const NOWHERE = '/no-such-folder/x';
const REFUSED = /\/no-such-folder\/?x?: cannot be written: its folder does not exist\n/;

// None of them has a peer: one that began its work would fail with another sentence, or wait.
const COMMANDS: readonly (readonly string[])[] = [
  ['ib_write_bw', '--out_json_file', NOWHERE, loopback(1)],
  ['ib_send_lat', '-R', '--out_json_file', NOWHERE],
  ['ib_send_bw', '--out_json_f', NOWHERE],
  ['transfer', '--output', NOWHERE],
  ['kv', 'bench', '--plot', NOWHERE],
  ['xio_perftest', 'read_lat', loopback(1), '-o', NOWHERE],
  ['rcopy', '--folder', NOWHERE],
];
for (const words of COMMANDS)
  test(`${words.slice(0, 3).join(' ')} refuses a file that cannot be written before its work`, async () => {
    const { code, stdout, stderr } = await run(words);
    assert.notEqual(code, 0);
    assert.match(stderr, REFUSED);
    assert.equal(stdout, '');
  });

test('a capture that cannot be written is refused before the work', async () => {
  const { code, stderr } = await run(['rping', '-s', '-a', loopback(2)], { VERBENA_PCAP: NOWHERE });
  assert.notEqual(code, 0);
  assert.match(stderr, /no-such-folder/);
});

const RPING_ENDS = ['-C', '50', '-S', '60000'];

test('a capture on a full disk leaves the exit code of the tool as it is', { skip: fullDiskProblem() }, async () => {
  const pcap = join(FULL, 'c.pcapng');
  const server = new Tool(['rping', '-s', '-a', loopback(40), ...RPING_ENDS]);
  const wrapper = ['unshare', '-rm', 'sh', '-c', `mount -t tmpfs -o size=64k none ${FULL} && exec "$@"`, 'sh'];
  const words = ['rping', '-c', '-a', loopback(40), '--addr', loopback(41), ...RPING_ENDS];
  let client = await run(words, { VERBENA_PCAP: pcap }, wrapper);
  // The server may not listen yet.
  while (client.code === 255 && !client.stderr.includes('Recording ends here'))
    client = await run(words, { VERBENA_PCAP: pcap }, wrapper);
  assert.match(client.stderr, /^Warning: the capture .* cannot be written: .* Recording ends here/m);
  assert.equal(client.code, 0);
  assert.equal((await server.ended).code, 0);
});

test('to check a file leaves nothing behind, and what is there as it is', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verbena-'));
  try {
    const file = join(folder, 'report');
    checkWritable(file);
    assert.ok(!existsSync(file));
    assert.deepEqual(readdirSync(folder), []);
    assert.throws(() => checkWritable(folder), /it is a folder/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('transfer takes a file or --size, not both', async () => {
  const { code, stderr } = await run(['transfer', 'README.md', '--size', '3']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^--size 3 is for bytes made on the fly, and README\.md has its own size: give one of them\.\n$/,
  );
});
