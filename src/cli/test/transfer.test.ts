import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { watch } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Ended, Tool, run, runWhenFree } from './tool.js';
import { loopback } from '../../../test/support/loopback.js';

const folder = mkdtempSync(join(tmpdir(), 'verbena-transfer-'));
after(() => rmSync(folder, { recursive: true }));

const addresses = (move: number): string[] => ['--from', loopback(2 * move + 1), '--to', loopback(2 * move + 2)];

test('what is made on the fly arrives, and the summary says how', async () => {
  const { code, stdout, stderr } = await run(['transfer', '--size', '3', ...addresses(1)]);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(
    stdout,
    new RegExp(`^Moving 3\\.0 MiB \\(bytes made on the fly\\) from ${loopback(3)} .* to ${loopback(4)} `),
  );
  assert.match(stdout, /^ {2}100 % {2}3\.0 MiB of 3\.0 MiB$/m);
  assert.match(stdout, /^Arrived: 3\.0 MiB, SHA-256 the same on both sides\.$/m);
  assert.match(stdout, /^Where to look next:$/m);
});

test('a file arrives whole, in several legs, and its digest is right', async () => {
  const content = randomBytes((65 << 20) + 4321);
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  writeFileSync(from, content);
  const { code, stdout } = await run(['transfer', from, '--output', to, '--json', ...addresses(2)]);
  assert.equal(code, 0);
  const { bytes, sha256 } = JSON.parse(stdout) as { bytes: number; sha256: string };
  assert.deepEqual(
    { bytes, sha256 },
    { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') },
  );
  assert.ok(readFileSync(to).equals(content));
});

test('an empty file arrives', async () => {
  const from = join(folder, 'empty');
  writeFileSync(from, '');
  const { code, stdout } = await run(['transfer', from, ...addresses(3)]);
  assert.equal(code, 0);
  assert.match(stdout, /Arrived: 0 bytes/);
});

test('NICs that run inline move a file, too', async () => {
  const { code, stdout } = await run(['transfer', '--size', '2', '--host', 'inline', ...addresses(4)]);
  assert.equal(code, 0);
  assert.match(stdout, /Arrived: 2\.0 MiB/);
});

test('sender and receiver find each other through their connection managers', async () => {
  const { stdout } = await run(['transfer', '--size', '1', '--json', ...addresses(11)]);
  const { sender } = JSON.parse(stdout) as { sender: { counters: Record<string, number> } };
  const told = ['req', 'rtu', 'dreq'].map((message) => sender.counters[`cm_tx_msgs_${message}`]);
  assert.deepEqual(told, [1, 1, 1]);
});

const hasIpv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
const skip = hasIpv6 ? false : 'this machine has no IPv6 loopback';

test('addresses of two families are refused', { skip }, async () => {
  const { code, stderr } = await runWhenFree(['transfer', '--from', loopback(25), '--to', '::1']);
  const told = `Sender and receiver need addresses of one family, not ${loopback(25)} and ::1.\n`;
  assert.deepEqual({ code, stderr }, { code: 1, stderr: told });
});

test('a file that is not there is refused', async () => {
  const { code, stderr } = await run(['transfer', join(folder, 'nothing')]);
  assert.equal(code, 1);
  assert.match(stderr, /^\S+nothing: cannot be read: no such file\n$/);
});

test('a folder is refused', async () => {
  const { code, stderr } = await run(['transfer', folder]);
  assert.deepEqual({ code, stderr }, { code: 1, stderr: `${folder} is not a regular file.\n` });
});

test('a file is not moved onto itself', async () => {
  const file = join(folder, 'precious');
  writeFileSync(file, 'content');
  const { code, stderr } = await run(['transfer', file, '-o', join(folder, '.', 'precious')]);
  assert.equal(code, 1);
  assert.match(stderr, /^\S+precious is the file to move; give --output another name\.\n$/);
  assert.equal(readFileSync(file, 'utf8'), 'content');
});

test('a disk that fills up at the receiver ends both sides with one sentence', async () => {
  const { code, stderr } = await run(['transfer', '--size', '1', '-o', '/dev/full', ...addresses(9)]);
  assert.deepEqual({ code, stderr }, { code: 1, stderr: 'Receiver: /dev/full: cannot be written: the disk is full\n' });
});

test('a capture that cannot go on is reported, and does not change the exit code', async () => {
  const settings = { VERBENA_PCAP: join(folder, 'cut.pcapng') };
  const limit = ['sh', '-c', 'ulimit -f 400 && exec "$@"', 'sh'];
  const { code, stdout, stderr } = await run(['transfer', '--size', '2', ...addresses(10)], settings, limit);
  assert.equal(code, 0);
  assert.match(stdout, /^Arrived: 2\.0 MiB/m);
  assert.match(stderr, /^Warning: the capture \S+cut\.pcapng cannot be written: .+\n$/);
});

test('an output that cannot be written is refused before the transfer', async () => {
  const { code, stderr } = await run(['transfer', '--size', '1', '-o', join(folder, 'no/such'), ...addresses(5)]);
  assert.equal(code, 1);
  assert.match(stderr, /^\S+such: cannot be written: its folder does not exist\n$/);
});

test('an interrupt ends both sides', async () => {
  const tool = new Tool(['transfer', '--size', '100000', ...addresses(6)]);
  await tool.printed('Moving');
  tool.child.kill('SIGINT');
  const { code, stderr } = await tool.ended;
  assert.deepEqual({ code, stderr }, { code: 130, stderr: 'Interrupted.\n' });
});

const WAS_THERE = 'what was there';

/** Waits until somebody has begun to write to a file of the folder. */
async function begun(place: string, oldBytes: number): Promise<void> {
  const sizes = (): number[] =>
    readdirSync(place).map((name) => statSync(join(place, name), { throwIfNoEntry: false })?.size ?? 0);
  for await (const change of watch(place)) if (change.filename !== null && Math.max(...sizes()) > oldBytes) return;
}

/** Starts to move more than there is time for into a folder, where a file of that name was, and has `end` end it. */
async function breakOff(
  move: number,
  end: (tool: Tool) => void,
): Promise<{ ended: Ended; left: string[]; old: string }> {
  const place = mkdtempSync(join(folder, 'broken-off-'));
  const output = join(place, 'out');
  writeFileSync(output, WAS_THERE);
  const tool = new Tool(['transfer', '--size', '100000', '-o', output, ...addresses(move)]);
  await begun(place, WAS_THERE.length);
  end(tool);
  const ended = await tool.ended;
  return { ended, left: readdirSync(place), old: readFileSync(output).subarray(0, 100).toString('latin1') };
}

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;
for (const [at, [signal, expected]] of SIGNALS.entries())
  test(`a transfer that ${signal} breaks off leaves the output as it was, and nothing beside it`, async () => {
    const { ended, left, old } = await breakOff(12 + at, ({ child }) => child.kill(signal));
    assert.deepEqual({ code: ended.code, stderr: ended.stderr }, { code: expected, stderr: 'Interrupted.\n' });
    assert.deepEqual({ left, old }, { left: ['out'], old: WAS_THERE });
  });

test('so does one whose sender is killed', async () => {
  const { left, old } = await breakOff(15, ({ child }) => child.kill('SIGKILL'));
  assert.deepEqual({ left, old }, { left: ['out'], old: WAS_THERE });
});

test('so does one whose receiver cannot write all of it', async () => {
  const place = mkdtempSync(join(folder, 'full-'));
  const output = join(place, 'out');
  const limit = ['sh', '-c', 'ulimit -f 400 && exec "$@"', 'sh'];
  const { code, stderr } = await run(['transfer', '--size', '2', '-o', output, ...addresses(16)], {}, limit);
  assert.deepEqual(
    { code, stderr, left: readdirSync(place) },
    {
      code: 1,
      stderr: `Receiver: ${output}: cannot be written: it would be larger than this system allows\n`,
      left: [],
    },
  );
});

test('a file that is replaced keeps its permissions, and a link to it stays one', async () => {
  const place = mkdtempSync(join(folder, 'replaced-'));
  mkdirSync(join(place, 'deep'));
  const [link, target] = [join(place, 'link'), join(place, 'deep', 'target')];
  writeFileSync(target, 'old');
  chmodSync(target, 0o640);
  symlinkSync(target, link);
  const { code } = await run(['transfer', '--size', '1', '-o', link, ...addresses(17)]);
  assert.equal(code, 0);
  assert.ok(lstatSync(link).isSymbolicLink());
  const { mode, size } = statSync(target);
  assert.deepEqual({ mode: mode & 0o777, size }, { mode: 0o640, size: 1 << 20 });
  assert.deepEqual(readdirSync(join(place, 'deep')), ['target']);
});

test('a sender that dies ends the receiver', async () => {
  const tool = new Tool(['transfer', '--size', '100000', ...addresses(7)]);
  await tool.printed('Moving');
  tool.child.kill('SIGKILL');
  // Both processes hold the pipe: it closes when the receiver has ended, too.
  const { signal, stderr } = await tool.ended;
  assert.deepEqual({ signal, stderr }, { signal: 'SIGKILL', stderr: '' });
});

test('a receiver that dies ends the sender', async () => {
  const tool = new Tool(['transfer', '--size', '100000', ...addresses(8)]);
  await tool.printed('Moving');
  const { pid } = tool.child;
  assert.ok(pid !== undefined);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  process.kill(Number(children), 'SIGKILL');
  const { code, stderr } = await tool.ended;
  assert.deepEqual(
    { code, stderr },
    { code: 1, stderr: 'The receiver ended by SIGKILL before everything had arrived.\n' },
  );
});
