import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './installation.js';

test('setup does not install through a link, for that would empty the folder behind it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'verbena-linked-'));
  try {
    const [clone, others] = [join(folder, 'clone'), join(folder, 'others')];
    mkdirSync(join(others, 'their-package'), { recursive: true });
    cpSync(join(ROOT, 'scripts'), join(clone, 'scripts'), { recursive: true });
    const names = { name: 'clone', version: '1.0.0' };
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ ...names, type: 'module' }));
    const lock = { ...names, lockfileVersion: 3, packages: { '': names } };
    writeFileSync(join(clone, 'package-lock.json'), JSON.stringify(lock));
    symlinkSync(others, join(clone, 'node_modules'));
    const setup = [join(clone, 'scripts', 'setup.mjs'), '--install-only'];
    const { status, stderr } = spawnSync(process.execPath, setup, { encoding: 'utf8' });
    assert.match(stderr, /^verbena: node_modules is a link, and installing would empty its target\. .*\.\n$/m);
    assert.deepEqual([status, existsSync(join(others, 'their-package'))], [1, true]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
