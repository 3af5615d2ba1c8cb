import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import ts from 'typescript';
import { PACKAGES, SCENARIOS, starter } from '../examples/scenarios.js';
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

type ModuleType = 'module' | 'commonjs';

function projectOf(type: ModuleType, name: string, ...install: readonly string[]): string {
  const place = join(folder, name);
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), `{ "type": "${type}", "private": true }\n`);
  const { status, stderr } = npm(['install', '--no-audit', '--no-fund', ...install], place);
  assert.equal(status, 0, stderr);
  return place;
}

const project = (name: string, ...install: readonly string[]): string => projectOf('module', name, ...install);

let archivePath: string | undefined;

/** What `npm pack` makes. */
function archive(): string {
  if (archivePath !== undefined) return archivePath;
  const { status, stderr } = npm(['pack', '--silent', '--pack-destination', folder], ROOT);
  assert.equal(status, 0, stderr);
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  archivePath = join(folder, name);
  return archivePath;
}

const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  devDependencies: Readonly<Record<string, string>>;
};
/** What examples need beside it, of the versions that are tested here. */
const BESIDE = [...PACKAGES.values()].flat().map((name) => `${name}@${devDependencies[name]}`);

const EXAMPLES = join(ROOT, 'examples');
const SOURCES = readdirSync(EXAMPLES).filter((name) => name.endsWith('.ts'));

/** The examples in JavaScript, as somebody would have written them who knows no types. */
function transpiled(place: string, module: ts.ModuleKind): void {
  for (const name of SOURCES) {
    const source = readFileSync(join(EXAMPLES, name), 'utf8');
    const { outputText } = ts.transpileModule(source, { compilerOptions: { target: ts.ScriptTarget.ES2022, module } });
    writeFileSync(join(place, name.replace('.ts', '.js')), outputText);
  }
}

/** The examples, compiled by the TypeScript of the project; the declarations of all packages are checked as well. */
function compiled(place: string, resolution: string): void {
  for (const name of SOURCES) cpSync(join(EXAMPLES, name), join(place, name));
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: 'es2022',
    // Node has no DOM, whose MessagePort is another.
    lib: ['es2022'],
    module: resolution,
    moduleResolution: resolution,
    types: ['node'],
  };
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const tsc = join(place, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', place], { encoding: 'utf8' });
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: '', stderr: '' });
}

async function assertExamplesWork(place: string): Promise<void> {
  const start = starter(place, place, 1);
  for (const scenario of SCENARIOS.values()) await scenario(start);
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
    const place = project('from-archive', archive());
    assertWorks(place);
    const modules = readdirSync(join(place, 'node_modules'));
    assert.deepEqual(
      ['koffi', '@node-rs'].filter((name) => !modules.includes(name)),
      [],
    );
  });

  it('runs every example in a project of ES modules', async () => {
    const place = project('modules', archive(), ...BESIDE);
    transpiled(place, ts.ModuleKind.ESNext);
    await assertExamplesWork(place);
  });

  it('runs every example in a project of CommonJS', async () => {
    const place = projectOf('commonjs', 'commonjs', archive(), ...BESIDE);
    transpiled(place, ts.ModuleKind.CommonJS);
    await assertExamplesWork(place);
  });

  for (const version of ['5.4', 'latest'])
    for (const type of ['module', 'commonjs'] as const)
      for (const resolution of ['node16', 'nodenext'])
        it(`compiles and runs every example under TypeScript ${version}, ${type}, ${resolution}`, async () => {
          const packages = [`typescript@${version}`, '@types/node@20', archive(), ...BESIDE];
          const place = projectOf(type, `typescript-${version}-${type}-${resolution}`, ...packages);
          compiled(place, resolution);
          await assertExamplesWork(place);
        });

  it('is installed and built from a clone that was never built', () => {
    assertWorks(project('from-folder', unbuiltClone('clone')));
  });

  it('is installed and built from a repository, by git', () => {
    assertWorks(project('from-git', `git+file://${unbuiltClone('repository')}`));
  });
});
