// Makes a clone runnable: installs what package-lock.json names, compiles, and bundles. Takes some milliseconds when nothing has
// changed. The parts that a command needs are arguments (see PARTS in build-state.mjs); without any, all are built.
// `--install-only` installs and stops.
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { at, changed, isBuilt, PARTS, root, stampBuild } from './build-state.mjs';
import { bundle } from './bundle.mjs';
import { compile } from './compile.mjs';
import { writeFaces } from './faces.mjs';
import { lock } from './lock.mjs';

const SECOND_MS = 1000;

function fail(sentence, output = '') {
  process.stderr.write(`${output}${sentence}\n`);
  process.exit(1);
}

/** Runs a step. A terminal shows its elapsed seconds while it runs; a log gets one line when it has ended. */
async function step(what, run) {
  const started = Date.now();
  const line = () => `verbena: ${what}... ${((Date.now() - started) / SECOND_MS).toFixed(0)} s`;
  const shows = process.stderr.isTTY === true;
  if (shows) process.stderr.write(line());
  const ticker = shows ? setInterval(() => process.stderr.write(`\r${line()}`), SECOND_MS) : undefined;
  try {
    return await run();
  } finally {
    clearInterval(ticker);
    process.stderr.write(`${shows ? '\r' : ''}${line()}\n`);
  }
}

const isInstalled = () => changed(at('node_modules', '.package-lock.json')) >= changed(at('package-lock.json'));

async function install() {
  // npm ci begins by emptying the folder, and would follow the link.
  if (lstatSync(at('node_modules'), { throwIfNoEntry: false })?.isSymbolicLink())
    fail('verbena: node_modules is a link, and installing would empty its target. Remove the link, or install there.');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const child = spawn(npm, ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
    // NODE_ENV=production of a caller would leave out the compiler.
    env: { ...process.env, NODE_ENV: 'development', npm_config_omit: '' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise((resolve) =>
    child.on('error', (error) => fail(`verbena: npm did not start: ${error.message}`)).on('close', resolve),
  );
  if (code !== 0) fail('verbena: npm ci failed; its messages are above.', output);
}

/** Deletes output whose source is gone: the test runner would still find it. */
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

/** Compiles folders that are TypeScript projects. */
async function compileFolders(folders) {
  const { ok, output } = await compile(['-b', ...folders]);
  if (!ok) return output;
  for (const folder of [...folders, 'src', 'test-machine']) removeOrphans(at('dist', folder), at(folder));
  return undefined;
}

async function compileOrFail(folders) {
  const errors = await step(`compiling ${folders.join(', ')}`, () => compileFolders(folders));
  if (errors !== undefined) fail(`verbena: ${folders.join(', ')} do not compile; the messages are above.`, errors);
}

const BUILDERS = {
  async tools() {
    await compileOrFail(PARTS.tools.folders);
    await step('bundling the tools', bundle);
  },
  async labs() {
    const errors = await step('compiling labs', () => compileFolders(PARTS.labs.folders));
    // A lab is an exercise: one that does not compile stops nothing else. `verbena lab` prints its errors when it is run.
    if (errors !== undefined)
      process.stderr.write(`${errors}verbena: a lab does not compile; everything else works.\n`);
  },
  package: () => step('writing the package', writeFaces),
  tests: () => compileOrFail(PARTS.tests.folders),
};

const words = process.argv.slice(2);
const installOnly = words.includes('--install-only');
const named = words.filter((word) => word in PARTS);
const parts = installOnly ? [] : Object.keys(PARTS).filter((name) => named.length === 0 || named.includes(name));
const isFresh = () => isInstalled() && parts.every(isBuilt);
if (!isFresh()) {
  lock(at('dist', '.building'));
  // The previous owner of the lock may have done it.
  if (!isInstalled()) await step('installing dependencies', install);
  for (const name of parts) {
    if (isBuilt(name)) continue;
    // Changes while a part is built count as newer than it.
    const started = new Date();
    await BUILDERS[name]();
    stampBuild(name, started);
  }
}
