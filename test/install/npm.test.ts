import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { npm, ROOT } from './installation.js';

/** It takes a minute, and needs the registry. */
const skip = process.env['VERBENA_TEST_NPM'] !== 'yes' && 'npm run test:install does it';

const folder = mkdtempSync(join(tmpdir(), 'verbena-npm-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A repository with what is in this one, committed or not, and nothing that was built. */
function unbuiltClone(name: string): string {
  const clone = join(folder, name);
  const git = (cwd: string, ...args: readonly string[]): string => execFileSync('git', args, { cwd, encoding: 'utf8' });
  const files = git(ROOT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0');
  for (const file of files.filter((path) => path !== '')) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    cpSync(join(ROOT, file), join(clone, file));
  }
  git(clone, 'init', '--quiet');
  git(clone, 'add', '--all');
  git(clone, '-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '--message=all');
  return clone;
}

/** A project with nothing in it but the package. */
function project(name: string, ...install: readonly string[]): string {
  const place = join(folder, name);
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{ "type": "module", "private": true }\n');
  const { status, stderr } = npm(['install', '--no-audit', '--no-fund', ...install], place);
  assert.equal(status, 0, stderr);
  return place;
}

const PROGRAM =
  "import { openDevice } from 'verbena'; using(openDevice()); function using(d) { console.log(d.device.name); d.close(); }";

function assertWorks(place: string): void {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: place,
    encoding: 'utf8',
  });
  assert.deepEqual({ stdout, stderr }, { stdout: 'verbena0\n', stderr: '' });
  const tool = spawnSync(join(place, 'node_modules', '.bin', 'verbena'), ['ibv_devices'], { encoding: 'utf8' });
  assert.match(tool.stdout, /verbena0/, tool.stderr);
}

describe('the package', { skip }, () => {
  it('is installed from its archive, with both native packages', () => {
    const { status, stderr } = npm(['pack', '--silent', '--pack-destination', folder], ROOT);
    assert.equal(status, 0, stderr);
    const [archive] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    const place = project('from-archive', join(folder, archive));
    assertWorks(place);
    const modules = readdirSync(join(place, 'node_modules'));
    assert.deepEqual(
      ['koffi', '@node-rs'].filter((name) => !modules.includes(name)),
      [],
    );
  });

  it('is installed and built from a clone that was never built', () => {
    assertWorks(project('from-folder', unbuiltClone('clone')));
  });

  it('is installed and built from a repository, by git', () => {
    assertWorks(project('from-git', `git+file://${unbuiltClone('repository')}`));
  });
});
