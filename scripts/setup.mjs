// Makes a clone runnable: installs what package-lock.json names, compiles, and bundles what starts by itself. Does
// nothing, within some milliseconds, when all is fresh. `--install-only` leaves out what comes after that.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (...parts) => join(root, ...parts);
const SOURCE_FOLDERS = ['src', 'test', 'labs', 'bench'];
const BUILD_STAMP = at('dist', '.built');

/** Milliseconds of the last change, or -Infinity for what is not there. */
function changed(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -Infinity;
}

/** The newest change below a folder. Folders count too: a deleted file changes nothing but its folder. */
function newestBelow(folder) {
  if (!existsSync(folder)) return -Infinity;
  let newest = changed(folder);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestBelow(path) : changed(path));
  }
  return newest;
}

function fail(sentence, output = '') {
  process.stderr.write(`${output}${sentence}\n`);
  process.exit(1);
}

function install() {
  const installed = changed(at('node_modules', '.package-lock.json'));
  if (installed >= changed(at('package-lock.json'))) return;
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
  const inputs = [at('package-lock.json'), at('tsconfig.json'), at('scripts', 'bundle.mjs')].map(changed);
  const newest = Math.max(...inputs, ...SOURCE_FOLDERS.map((folder) => newestBelow(at(folder))));
  if (changed(BUILD_STAMP) > newest) return;
  process.stderr.write('verbena: compiling...\n');
  // What changes while the compiler runs must count as newer than this build.
  const started = new Date();
  const run = spawnSync(process.execPath, [at('node_modules', 'typescript', 'bin', 'tsc'), '-p', root], {
    cwd: root,
    encoding: 'utf8',
  });
  if (run.status !== 0) fail('verbena: the sources do not compile; the messages are above.', run.stdout + run.stderr);
  await bundle();
  for (const folder of SOURCE_FOLDERS) removeOrphans(at('dist', folder), at(folder));
  writeFileSync(BUILD_STAMP, `${started.toISOString()}\n`);
}

install();
if (!process.argv.includes('--install-only')) await build();
