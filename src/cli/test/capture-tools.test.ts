import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { goldenPath } from '../../device/wire/test/golden.js';
import { framesOf, pcapngOf } from './capture-files.js';
import { run } from './tool.js';

// What only a process shows: standard streams and the exit status. All else of these tools is tested within one process, in
// dump.test.ts and src/cli/explain/test.

const main = fileURLToPath(new URL('../main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'verbena-capture-tools-'));
after(() => rmSync(folder, { recursive: true }));

describe('verbena dump as a process', () => {
  it('reads standard input, and exits with 1 when an ICRC is wrong', async () => {
    const frames = framesOf('rc_pingpong');
    frames[2][frames[2].length - 5] ^= 1;
    const child = spawn(process.execPath, [main, 'dump', '-'], { stdio: 'pipe' });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.end(pcapngOf(frames));
    await once(child, 'close');
    assert.equal(child.exitCode, 1);
    assert.match(stdout.split('\n')[2], /icrc=WRONG/);
    assert.match(stderr, /^20 RoCE packets, 1 with a wrong ICRC.*\n$/);
  });

  it('ends quietly when its reader leaves', { skip: process.platform === 'win32' }, () => {
    const file = join(folder, 'large.pcapng');
    writeFileSync(file, pcapngOf(Array.from({ length: 300 }, () => framesOf('rping')).flat()));
    const script = '"$0" "$1" dump -v "$2" | head -n 1; echo "${PIPESTATUS[0]}"';
    const run = spawnSync('bash', ['-c', script, process.execPath, main, file], { encoding: 'utf8' });
    assert.equal(run.stderr, '');
    assert.match(run.stdout, /^ +1 +0\.000000 .*\n0\n$/);
  });
});

describe('verbena explain as a process', () => {
  it('prints what happened, and exits with 0 when all went well', async () => {
    const { code, stdout, stderr } = await run(['explain', goldenPath('rping')]);
    assert.match(stdout, /^connection managers\n/);
    assert.deepEqual([code, stderr], [0, '']);
  });

  it('exits with 2 and one sentence when it cannot read a file', async () => {
    const { code, stdout, stderr } = await run(['explain', join(folder, 'none')]);
    assert.match(stderr, /none: cannot be read: no such file\n$/);
    assert.deepEqual([code, stdout], [2, '']);
  });
});
