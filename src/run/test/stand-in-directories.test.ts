import assert from 'node:assert/strict';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { StandInDirectories } from '../sysfs/stand-in-directories.js';
import { lockFile, nativeHostProblem } from '../../node/system/index.js';

/** A folder for temporary files that is empty. */
function emptyPlace(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'verbena-test-'));
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/** As a launcher leaves its place that is killed while it makes that. */
function leave(place: string, name: string, ageMs: number): string {
  const folder = join(place, name);
  mkdirSync(join(folder, '3'), { recursive: true });
  const at = (Date.now() - ageMs) / 1000;
  utimesSync(folder, at, at);
  return folder;
}

describe('folders of ours that programs open', { skip: nativeHostProblem() ?? false }, () => {
  it('leave nothing behind', (t) => {
    const place = emptyPlace(t);
    new StandInDirectories(['/sys/a', '/sys/b']).close();
    assert.deepEqual(readdirSync(place), []);
  });

  it('come with the removal of what launchers have left behind, and of nothing that one may still need', (t) => {
    const place = emptyPlace(t);
    leave(place, 'verbena-run-killed', 100_000);
    leave(place, 'verbena-run-young', 1000);
    leave(place, 'others', 100_000);
    const fd = openSync(leave(place, 'verbena-run-stopped', 100_000), 'r');
    assert.ok(lockFile(fd));
    new StandInDirectories(['/sys/a']).close();
    closeSync(fd);
    assert.deepEqual(readdirSync(place).sort(), ['others', 'verbena-run-stopped', 'verbena-run-young']);
  });
});
