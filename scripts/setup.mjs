// Makes a clone runnable: installs what package-lock.json names, compiles, and bundles what starts by itself. Does
// nothing, within some milliseconds, when all is fresh. `--install-only` leaves out what comes after that.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { areFacesBuilt, at, changed, isBuilt, root, SOURCE_FOLDERS, stampBuild, stampFaces } from './build-state.mjs';
import { bundle } from './bundle.mjs';
import { writeFaces } from './faces.mjs';
import { lock } from './lock.mjs';

function fail(sentence, output = '') {
  process.stderr.write(`${output}${sentence}\n`);
  process.exit(1);
}

const isInstalled = () => changed(at('node_modules', '.package-lock.json')) >= changed(at('package-lock.json'));

function install() {
  // npm ci begins by emptying the folder, and would follow the link.
  if (lstatSync(at('node_modules'), { throwIfNoEntry: false })?.isSymbolicLink())
    fail('verbena: node_modules is a link, and installing would empty its target; remove the link, or install there.');
  process.stderr.write('verbena: installing dependencies...\n');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const run = spawnSync(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    // A caller's NODE_ENV=production would leave out the compiler.
    env: { ...process.env, NODE_ENV: 'development', npm_config_omit: '' },
  });
  if (run.error) fail(`verbena: npm could not be started: ${run.error.message}`);
  if (run.status !== 0) fail('verbena: npm ci failed; its messages are above.', run.stdout + run.stderr);
}

/** Output whose source is gone would still be found by the test runner. */
function removeOrphans(folder, sourceFolder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      removeOrphans(path, join(sourceFolder, entry.name));
      if (readdirSync(path).length === 0) rmSync(path, { recursive: true });
      continue;
    }
    const stem = entry.name.replace(/(\.d\.ts|\.js)(\.map)?$/, '');
    if (!existsSync(join(sourceFolder, `${stem}.ts`))) rmSync(path);
  }
}

async function build() {
  process.stderr.write('verbena: compiling...\n');
  // What changes while the compiler runs must count as newer than this build.
  const started = new Date();
  const run = spawnSync(process.execPath, [at('node_modules', 'typescript', 'bin', 'tsc'), '-p', root], {
    cwd: root,
    encoding: 'utf8',
  });
  if (run.status !== 0) fail('verbena: the sources do not compile; the messages are above.', run.stdout + run.stderr);
  await bundle();
  if (!areFacesBuilt()) {
    await writeFaces();
    stampFaces(started);
  }
  for (const folder of SOURCE_FOLDERS) removeOrphans(at('dist', folder), at(folder));
  stampBuild(started);
}

const installOnly = process.argv.includes('--install-only');
const isCompiled = () => isBuilt(SOURCE_FOLDERS) && areFacesBuilt();
const isFresh = () => isInstalled() && (installOnly || isCompiled());
if (!isFresh()) {
  lock(at('dist', '.building'));
  // Whoever had the lock before may have done it.
  if (!isInstalled()) install();
  if (!installOnly && !isCompiled()) await build();
}
