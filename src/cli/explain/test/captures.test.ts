import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Cause } from '../verdicts/cause.js';
import { runTool } from '../../test/in-process.js';
import { goldenFile, goldenPath } from '../../../device/wire/test/golden.js';
import { causesOf, storiesIn } from './captured.js';
import { Testbed, write } from './testbed.js';

const folder = mkdtempSync(join(tmpdir(), 'verbena-explain-'));
after(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, bytes: Uint8Array): string {
  const path = join(folder, `${name}.pcapng`);
  writeFileSync(path, bytes);
  return path;
}

describe('verbena explain', () => {
  const testbed = new Testbed();
  testbed.connect();
  testbed.script = ({ from }) => (from === testbed.b.address ? 'drop' : 'pass');
  testbed.a.post(write(testbed.a, testbed.b));
  testbed.run();
  const [a, b] = [fileOf('a', testbed.a.capture), fileOf('b', testbed.b.capture)];

  it('tells of both sides what was, in lines, and ends with 1', async () => {
    const { status, stdout, stderr } = await runTool('explain', [a, b]);
    assert.match(
      stdout,
      /^10\.0\.0\.1 to 10\.0\.0\.2 queue pair 0x[0-9a-f]+ \(RC, from queue pair 0x[0-9a-f]+\), seen at both\n {2}0\.000000 {2}asked for: 1 WRITE;/,
    );
    assert.match(stdout, /\n {2}ANSWERS-LOST: .* answers are lost on the way back\n {4}WRITE .*\n$/);
    assert.deepEqual([status, stderr], [1, '']);
  });

  it('prints an object a line with --json', async () => {
    const { stdout } = await runTool('explain', ['--json', a, b]);
    const story: unknown = JSON.parse(stdout);
    const { cause, requests, transmissions, capturedAt } = story as Record<string, unknown>;
    assert.deepEqual([cause, requests, transmissions], [Cause.ANSWERS_LOST, 1, 4]);
    assert.deepEqual(capturedAt, { requester: true, responder: true });
  });

  it('ends with 0 when all went well, and tells what connection managers said', async () => {
    const { status, stdout } = await runTool('explain', [goldenPath('rping')]);
    assert.equal(status, 0);
    assert.match(stdout, /^connection managers\n {2}0\.000000 .* cm\{REQ /);
    assert.equal(stdout.match(/ANSWERED: /g)?.length, 2);
  });

  it('says which file it cannot read, and ends with 2', async () => {
    const { status, stderr } = await runTool('explain', [join(folder, 'none')]);
    assert.equal(status, 2);
    assert.match(stderr, /none: cannot be read: no such file/);
  });
});

describe('captures of other adapters are explained as well', () => {
  for (const [name, cause] of [
    ['verbs_bad_rkey', Cause.REMOTE_ACCESS],
    ['verbs_bad_len', Cause.REMOTE_ACCESS],
    ['verbs_rnr', Cause.REPAIRED],
    ['loss', Cause.REPAIRED],
    ['verbs_big', Cause.ANSWERED],
    ['verbs_cas', Cause.ANSWERED],
    ['ud_pingpong', Cause.UNACKNOWLEDGED],
  ] as const)
    it(`${name}: ${cause}`, () => {
      assert.deepEqual([...new Set(causesOf(storiesIn(goldenFile(name))))], [cause]);
    });
});
