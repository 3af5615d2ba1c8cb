import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ROOT } from './tool.js';

/** A clone with hardly any sources, so that it builds within moments. */
const clone = mkdtempSync(join(tmpdir(), 'verbena-clone-'));
after(() => rmSync(clone, { recursive: true }));

function write(path: string, source: string): void {
  const file = join(clone, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
}

for (const path of ['bin', 'scripts', 'package.json']) cpSync(join(ROOT, path), join(clone, path), { recursive: true });
symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
// Our own rules, without Node's declarations: the compiler would spend seconds on them.
write('tsconfig.json', readFileSync(join(ROOT, 'tsconfig.json'), 'utf8').replace('"types": ["node"]', '"types": []'));
for (const project of ['src', 'labs', 'examples', 'bench', 'test']) {
  write(`${project}/tsconfig.json`, readFileSync(join(ROOT, project, 'tsconfig.json'), 'utf8'));
  if (project !== 'src') write(`${project}/empty.ts`, 'export {};\n');
}
const entries = readdirSync(join(ROOT, 'src', 'entry')).filter((name) => name.endsWith('.ts'));
// The entries of bundles, and the package's entry points.
for (const path of [
  'node/hosting/threads/thread-worker',
  'cli/lab/lab-process',
  'cli/transfer/receiver-process',
  'run/launcher/program-worker',
  'node/hosting/stand-in/stand-in-worker',
  ...entries.map((name) => `entry/${name.slice(0, -'.ts'.length)}`),
  ...['kv', 'messages', 'rsocket', 'ucp', 'xio'].map((name) => `protocols/${name}/index`),
  'sim/index',
])
  write(`src/${path}.ts`, 'export {};\n');
const says = (what: string): void =>
  write('src/cli/main.ts', `declare const console: { log(text: string): void };\nconsole.log(${what});\n`);

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function node(...args: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: clone, encoding: 'utf8' });
  return { status, stdout, stderr };
}

const TOOL = join(clone, 'bin', 'verbena');
const tool = (): Ran => node(TOOL);
const setup = (...parts: readonly string[]): Ran => node(join(clone, 'scripts', 'setup.mjs'), ...parts);
const STALE = 'verbena: src has changed since the last build, which runs now. Run `npm run build`.\n';

test('the first tools of a clone, started together, build it once', async () => {
  says("'first'");
  const children = [1, 2].map(() => spawn(process.execPath, [TOOL], { stdio: ['ignore', 'pipe', 'pipe'] }));
  const said = await Promise.all(
    children.map(async (child) => {
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      return { stdout, stderr };
    }),
  );
  assert.deepEqual(
    said.map(({ stdout }) => stdout),
    ['first\n', 'first\n'],
  );
  const steps = said.map(({ stderr }) => stderr).join('');
  assert.match(
    steps,
    /^verbena: compiling src\.\.\. \d+ s\nverbena: bundling the tools\.\.\. \d+ s\nverbena: compiling labs\.\.\. \d+ s\n$/,
  );
});

test('a tool of a fresh build runs without a word', () => {
  assert.deepEqual(tool(), { status: 0, stdout: 'first\n', stderr: '' });
});

test('after an edit the last build runs, and says that it is not the newest', () => {
  says("'second'");
  assert.deepEqual(tool(), { status: 0, stdout: 'first\n', stderr: STALE });
  assert.equal(setup('tools').status, 0);
  assert.deepEqual(tool(), { status: 0, stdout: 'second\n', stderr: '' });
});

test('sources that do not compile leave the last build in use', () => {
  says('third');
  const built = setup('tools');
  assert.equal(built.status, 1);
  assert.match(built.stderr, /main\.ts\(2,13\): error TS2304: Cannot find name 'third'\./);
  assert.match(built.stderr, /\nverbena: src do not compile; the messages are above\.\n$/);
  assert.deepEqual(tool(), { status: 0, stdout: 'second\n', stderr: STALE });
  says("'second'");
});

test('a lab that does not compile leaves all tools in use', () => {
  write('labs/exercise.ts', "export const x: number = 'a';\n");
  const built = setup('tools', 'labs');
  assert.equal(built.status, 0);
  assert.match(built.stderr, /labs\/exercise\.ts\(1,14\): error TS2322/);
  assert.deepEqual(tool(), { status: 0, stdout: 'second\n', stderr: '' });
});

const lab = (name: string): Ran => node(join(clone, 'scripts', 'lab.mjs'), name);

test('a lab is compiled alone: the error of another does not matter, its own is printed with file and line', () => {
  write('labs/good.ts', 'export const y = 1;\n');
  assert.deepEqual(lab('good'), { status: 0, stdout: '', stderr: '' });
  assert.match(readFileSync(join(clone, 'dist', 'labs', 'good.js'), 'utf8'), /y = 1/);
  const { status, stderr } = lab('exercise');
  assert.equal(status, 1);
  assert.match(stderr, /^labs\/exercise\.ts\(1,14\): error TS2322: /);
});

test('leftovers of an exercise that nothing uses do not keep a lab from running', () => {
  write('labs/exercise.ts', 'function todo(): void {}\nconst rest = 1;\nexport {};\n');
  assert.deepEqual(lab('exercise'), { status: 0, stdout: '', stderr: '' });
});

test('an edited lab runs as edited', () => {
  write('labs/good.ts', 'export const y = 2;\n');
  assert.equal(lab('good').status, 0);
  assert.match(readFileSync(join(clone, 'dist', 'labs', 'good.js'), 'utf8'), /y = 2/);
});

test('a change while the sources are compiled is newer than the build', () => {
  const state = pathToFileURL(join(clone, 'scripts', 'build-state.mjs')).href;
  const program = `
    import { writeFileSync } from 'node:fs';
    import { isBuilt, stampBuild } from ${JSON.stringify(state)};
    const started = new Date();
    writeFileSync(${JSON.stringify(join(clone, 'src', 'cli', 'main.ts'))}, "console.log('fifth');");
    stampBuild('tools', started);
    console.log(isBuilt('tools'));`;
  assert.equal(node('--input-type=module', '-e', program).stdout, 'false\n');
});
