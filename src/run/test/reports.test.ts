import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FailureReport } from '../reports/failure-report.js';
import { readCapture } from '../../device/wire/index.js';
import { loopback } from '../../../test/support/loopback.js';
import { freePort } from '../../../test/support/ports.js';
import { TOOL, cannotRun, type Played, run, without } from './support.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const PYTHON = '/usr/bin/python3';
const UNMAPPED = `${ROOT}src/run/test/programs/unmapped.py`;
const noPyverbs =
  cannotRun !== false
    ? cannotRun
    : spawnSync(PYTHON, ['-c', 'import pyverbs.qp']).status !== 0 &&
      'there is no pyverbs here (Debian: python3-pyverbs)';

/** What the shell of a launcher says: a tool of ours. */
const tool = (...words: string[]): string => [process.execPath, TOOL, ...words].join(' ');

const PORT = await freePort();

describe('reports of failures', () => {
  function told(times: readonly number[]): string[] {
    const said: string[] = [];
    let now = 0;
    const report = new FailureReport(
      (text) => said.push(text),
      (pid) => `program ${pid}`,
      () => now,
    );
    for (const time of times) {
      now = time;
      report.tell(7, 'QP 0x11, wr_id 0x1', 'because');
    }
    report.end();
    return said;
  }

  it('name the program, the request and the reason', () => {
    assert.deepEqual(told([0]), ['program 7 (pid 7), QP 0x11, wr_id 0x1: because']);
  });

  it('are eight a second, and say how many were left out', () => {
    const often = told(Array<number>(20).fill(0));
    assert.deepEqual([often.length, often.at(-1)], [9, '12 more failures']);
    const later = told([...Array<number>(9).fill(0), 1000]);
    assert.deepEqual(later.slice(8), ['1 more failure', 'program 7 (pid 7), QP 0x11, wr_id 0x1: because']);
  });
});

describe('verbena run --stats', { skip: without('ibv_rc_pingpong', 'ibverbs-utils') }, () => {
  const game = `ibv_rc_pingpong -g 0 -n 20 -p ${PORT}`;
  const listening = `while ! grep -q ":$(printf %04X ${PORT}) .* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done`;

  it('prints for each device what it has counted, and nothing that is zero', async () => {
    const script = `${game} >&2 & ${listening}; ${game} ${loopback(1)} && wait $!`;
    const { code, errors } = await run(['sh', '-c', script], ['--stats', '--addr', loopback(2)]);
    const lines = errors.split('\n').filter((line) => line.startsWith('link '));
    assert.equal(code, 0, errors);
    assert.match(lines[0], new RegExp(`^link rxe0/1 sent_pkts \\d+ .*rdma_sends 40 .*address ${loopback(1)}$`));
    assert.doesNotMatch(lines[0], / 0 /);
    assert.deepEqual(lines.slice(1), [`link rxe1/1 address ${loopback(2)}`]);
  });

  it('counts what VERBENA_NETEM does to packets, which VERBENA_PCAP records', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'verbena-test-'));
    const capture = join(folder, 'run.pcapng');
    const script = `${game} >&2 & ${listening}; ${game} ${loopback(1)} && wait $!`;
    const settings = { VERBENA_PCAP: capture, VERBENA_NETEM: 'dup 20% seed 1' };
    const { code, errors } = await run(['sh', '-c', script], ['--stats'], 1, settings);
    assert.equal(code, 0, errors);
    assert.match(errors, /^link rxe0\/1 .* link_netem_duplicated \d+ /m);
    assert.ok([...readCapture(readFileSync(capture))].length > 40);
    rmSync(folder, { recursive: true });
  });

  it('is not needed to see them while the program runs, nor whose queue pairs they are', async () => {
    const runtime = mkdtempSync(join(tmpdir(), 'verbena-test-'));
    const look = `shown=$(${tool('rdma', 'resource', 'show', 'qp')})`;
    // A queue pair is in RESET for a moment before it waits in INIT.
    const until = `until ${look}; case $shown in *' INIT '*) true;; *) false;; esac; do :; done`;
    const script = `${game} >/dev/null & ${until}; echo "$shown"; ${tool('rdma', 'statistic')}; kill $!; wait`;
    const { out, errors } = await run(['sh', '-c', script], [], 1, { XDG_RUNTIME_DIR: runtime });
    rmSync(runtime, { recursive: true });
    const [pair, statistics] = out.split('\n');
    assert.match(
      pair,
      /^link verbena0\/1 lqpn \d+ type RC state INIT .* address \S+ pid \d+ comm ibv_rc_pingpong $/,
      errors,
    );
    assert.match(statistics, new RegExp(`^link verbena0/1 sent_pkts 0 .* address ${loopback(1)} `));
  });
});

describe('verbena run --explain', { skip: noPyverbs }, () => {
  const play = async (what: string): Promise<Played> => run([PYTHON, UNMAPPED, what], ['--explain']);

  it('says that the program has unmapped what its peer names', async () => {
    const { out, errors } = await play('remote');
    assert.equal(out, '0\n10\n', errors);
    assert.match(
      errors,
      /python3 \(pid \d+\), QP 0x\w+: .*the QP is in ERR after memory that the peer named turned out to be unmapped/,
    );
    assert.match(
      errors,
      /python3 \(pid \d+\), QP 0x\w+, wr_id 0x2, status 10 \(REM_ACCESS_ERR\): remote access error: /,
    );
  });

  it('says that the program has unmapped what it sends', async () => {
    const { out, errors } = await play('local');
    assert.equal(out, '0\n4\n', errors);
    assert.match(
      errors,
      /status 4 \(LOC_PROT_ERR\): .*the key is good, but the program that registered the memory has unmapped/,
    );
  });

  it('says of a key that was deregistered that it is not good', async () => {
    const { out, errors } = await play('key');
    assert.equal(out, '0\n10\n', errors);
    assert.match(errors, /access violation at a queue pair: that key was deregistered /);
    assert.doesNotMatch(errors, /unmapped/);
  });

  for (const [what, reason] of [
    [
      'remote',
      /REMOTE-ACCESS: .*NAK remote access error\n[^]*refused after memory that the peer named turned out to be unmapped/,
    ],
    ['key', /REMOTE-ACCESS: .*NAK remote access error\n[^]*refused after the peer named memory that it may not use/],
  ] as const)
    it(`is not needed where a capture is explained (${what})`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'verbena-test-'));
      const capture = join(folder, 'run.pcapng');
      await run([PYTHON, UNMAPPED, what], ['--pcap', capture]);
      const { stdout } = spawnSync(process.execPath, [TOOL, 'explain', capture], { encoding: 'utf8' });
      rmSync(folder, { recursive: true });
      assert.match(stdout, reason);
    });

  it('says nothing where nothing fails', async () => {
    const { out, errors } = await play('nothing');
    assert.deepEqual([out, errors], ['0\n0\n', '']);
  });
});
