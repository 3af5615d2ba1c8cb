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

/** A clone with hardly any sources, which is built within moments. */
const clone = mkdtempSync(join(tmpdir(), 'verbena-clone-'));
after(() => rmSync(clone, { recursive: true }));

function write(path: string, source: string): void {
  const file = join(clone, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
}

for (const path of ['bin', 'scripts', 'package.json']) cpSync(join(ROOT, path), join(clone, path), { recursive: true });
symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
// Our own rules; without Node's declarations, which take the compiler seconds.
write('tsconfig.json', readFileSync(join(ROOT, 'tsconfig.json'), 'utf8').replace('"types": ["node"]', '"types": []'));
const faces = readdirSync(join(ROOT, 'src')).filter((name) => name.endsWith('.ts'));
// What is bundled, and the package's faces.
for (const path of [
  'machine/hosting/threads/thread-worker',
  'apps/cli/transfer/receiver-process',
  'apps/run/launcher/program-worker',
  ...faces.map((name) => name.slice(0, -'.ts'.length)),
  'api/sim/index',
])
  write(`src/${path}.ts`, 'export {};\n');
const says = (what: string): void =>
  write('src/apps/cli/main.ts', `declare const console: { log(text: string): void };\nconsole.log(${what});\n`);

const command = [process.execPath, join(clone, 'bin', 'verbena')] as const;

function run(): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(command[0], [command[1]], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('a tool is what its sources say, whatever was built before', () => {
  says("'first'");
  assert.deepEqual(run(), { status: 0, stdout: 'first\n', stderr: 'verbena: compiling...\n' });
  assert.deepEqual(run(), { status: 0, stdout: 'first\n', stderr: '' });
  says("'second'");
  assert.deepEqual(run(), { status: 0, stdout: 'second\n', stderr: 'verbena: compiling...\n' });
});

test('a tool whose sources do not compile says so, and does not run', () => {
  says('third');
  const { status, stdout, stderr } = run();
  assert.deepEqual({ status, stdout }, { status: 1, stdout: '' });
  assert.match(stderr, /main\.ts\(2,13\): error TS2304: Cannot find name 'third'\./);
  assert.match(stderr, /\nverbena: the sources do not compile; the messages are above\.\n$/);
});

test('what is left over of an exercise, and used no more, keeps nobody from building it', () => {
  write('labs/exercise.ts', 'function todo(): void {}\nconst rest = 1;\nexport {};\n');
  says("'done'");
  assert.equal(run().stdout, 'done\n');
});

test('two tools that are started at once after an edit build once', async () => {
  says("'fourth'");
  const children = [1, 2].map(() => spawn(command[0], [command[1]], { stdio: ['ignore', 'pipe', 'pipe'] }));
  const said = await Promise.all(
    children.map(async (child) => {
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      return { stdout, stderr };
    }),
  );
  assert.deepEqual(
    said.map(({ stdout }) => stdout),
    ['fourth\n', 'fourth\n'],
  );
  assert.equal(said.map(({ stderr }) => stderr).join(''), 'verbena: compiling...\n');
});

test('what changes while the sources are compiled is newer than the build', () => {
  const state = pathToFileURL(join(clone, 'scripts', 'build-state.mjs')).href;
  const program = `
    import { writeFileSync } from 'node:fs';
    import { isBuilt, stampBuild } from ${JSON.stringify(state)};
    const started = new Date();
    writeFileSync(${JSON.stringify(join(clone, 'src', 'apps', 'cli', 'main.ts'))}, "console.log('fifth');");
    stampBuild(started);
    console.log(isBuilt(['src']));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.equal(stdout, 'false\n');
});
