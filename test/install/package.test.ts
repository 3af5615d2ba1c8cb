import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { loopback } from '../support/loopback.js';
import { Installation, installed, packedFiles, ROOT } from './installation.js';
import { Page } from '../support/page.js';

/** Runs Node in the project. */
function node(folder: string, args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return { status, stdout, stderr };
}

const PROGRAMS = new Page('docs/guide/start.md').programs;

function written(folder: string, name: string, source: string): string {
  const path = join(folder, name);
  writeFileSync(path, source);
  return path;
}

for (const [index, source] of PROGRAMS.entries())
  test(`program ${index + 1} of docs/guide/start.md runs in a project that has the package`, () => {
    const { folder } = installed();
    const { outputText } = ts.transpileModule(source, {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
    });
    const ran = node(folder, [written(folder, `readme-${index}.mjs`, outputText)]);
    assert.deepEqual(ran, { status: 0, stdout: 'hello\n', stderr: '' });
  });

test('a project that has the package can simulate', () => {
  const { folder } = installed();
  const source = `
    import { simulate } from 'verbena/sim';
    console.log(typeof simulate);`;
  const { stdout, stderr } = node(folder, [written(folder, 'simulate.mjs', source)]);
  assert.deepEqual({ stdout, stderr }, { stdout: 'function\n', stderr: '' });
});

test('an error that a program does not catch shows what it says, and no page of code above it', () => {
  const { folder } = installed();
  const source = `
    import { openDevice } from 'verbena';
    openDevice({ host: 'inline', address: '${loopback(3)}' }).createCq({ cqe: 0 });`;
  const { status, stderr } = node(folder, [written(folder, 'uncaught.mjs', source)]);
  assert.equal(status, 1);
  assert.match(stderr, /^VerbsError: ibv_create_cq: cqe is 0 \(EINVAL\)/m);
  assert.ok(stderr.length < 4000, `${stderr.length} characters`);
});

test('the labs run in a project that has the package', () => {
  const { folder, tool } = installed();
  const env = { ...process.env, VERBENA_ADDR: loopback(1) };
  const { status, stderr } = spawnSync(process.execPath, [tool, 'lab', 'a'], { cwd: folder, encoding: 'utf8', env });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});

const RESOLUTIONS = [
  { name: 'NodeNext', module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  { name: 'bundler', module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
] as const;

const CALLED = readdirSync(join(ROOT, 'examples'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(ROOT, 'examples', name), 'utf8'));
const SIMULATION = "import { simulate } from 'verbena/sim';\nexport const run: unknown = simulate;\n";

for (const { name, module, moduleResolution } of RESOLUTIONS)
  test(`its types are found by the resolution '${name}', and are right by the strictest rules`, () => {
    using installation = new Installation();
    const { folder } = installation;
    installation.link('@types/node');
    // What one of the examples checks its messages by.
    installation.link('zod');
    written(folder, 'package.json', '{ "type": "module" }');
    const modules = [...PROGRAMS, SIMULATION, ...CALLED].map((source, i) => written(folder, `program-${i}.ts`, source));
    // The same in CommonJS, which has its own declarations; bundlers know no difference.
    const required = name === 'bundler' ? [] : CALLED.map((source, i) => written(folder, `required-${i}.cts`, source));
    const files = [...modules, ...required];
    const program = ts.createProgram(files, {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      // Ours are to be right as well.
      skipLibCheck: false,
      target: ts.ScriptTarget.ES2023,
      module,
      moduleResolution,
      lib: ['lib.es2023.d.ts'],
      types: ['node'],
      typeRoots: [join(folder, 'node_modules', '@types')],
    });
    const problems = ts
      .getPreEmitDiagnostics(program)
      // Other people's declarations are their affair.
      .filter(
        ({ file }) => file === undefined || !/node_modules\/(?!verbena\/)/.test(file.fileName.replace(folder, '')),
      )
      .map(({ file, messageText }) => `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
    assert.deepEqual(problems, []);
  });

test('the package holds what runs, its types and its pages, and not what it was made of', () => {
  const files = packedFiles();
  const needless = files.filter((path) =>
    /^(src|test|scripts|bench|dist\/(test|bench|examples))\/|^dist\/(src|package)\/.*\.map$|\/\.built$/.test(path),
  );
  assert.deepEqual(needless, []);
  for (const path of [
    'bin/verbena',
    'dist/package/index.js',
    'dist/package/index.cjs',
    'dist/package/types/index.d.ts',
    'dist/package/types/index.d.cts',
    'dist/package/messages.js',
    'dist/package/types/messages.d.cts',
    'dist/package/rsocket.js',
    'dist/package/types/rsocket.d.cts',
    'dist/package/net.js',
    'dist/package/types/net.d.cts',
    'dist/package/kv.js',
    'dist/package/types/kv.d.cts',
    'dist/package/ucp.js',
    'dist/package/types/ucp.d.cts',
    'dist/package/xio.js',
    'dist/package/types/xio.d.cts',
    'dist/package/gpu.js',
    'dist/package/types/gpu.d.cts',
    'examples/rpc.ts',
    'LICENSE',
  ])
    assert.ok(files.includes(path), path);
  assert.ok(files.length < 820, `${files.length} files`);
});

test('whoever imports and whoever requires it has the same package', () => {
  const { folder } = installed();
  const source = `
    import { createRequire } from 'node:module';
    const require = createRequire(import.meta.url);
    const pairs = [];
    for (const face of ['verbena', 'verbena/sim', 'verbena/messages', 'verbena/rsocket', 'verbena/net', 'verbena/kv', 'verbena/ucp', 'verbena/xio', 'verbena/gpu']) pairs.push([await import(face), require(face)]);
    const different = pairs.flatMap(([one, other]) => Object.keys(other).filter((name) => one[name] !== other[name]));
    const only = pairs.flatMap(([one, other]) => Object.keys(one).filter((name) => !(name in other) && name !== 'default'));
    const { Sim } = require('verbena/sim');
    console.log(JSON.stringify([different, only, Object.keys(pairs[0][1]).length > 100, typeof Sim]));`;
  const { stdout, stderr } = node(folder, [written(folder, 'both.mjs', source)]);
  assert.deepEqual({ stdout, stderr }, { stdout: '[[],[],true,"function"]\n', stderr: '' });
});

test('a bare import reads a handful of files, and loads no native code', () => {
  const { folder } = installed();
  const source = `
    import 'verbena';
    import { createRequire } from 'node:module';
    console.log(JSON.stringify(Object.keys(createRequire(import.meta.url).cache)));
    console.log(process.report.getReport().sharedObjects.filter((path) => path.endsWith('.node')).length);`;
  const { stdout } = node(folder, [written(folder, 'bare.mjs', source)]);
  const [loaded, natives] = stdout.split('\n');
  const files = (JSON.parse(loaded) as string[]).map((path) => path.replace(/.*\/verbena\//, ''));
  assert.deepEqual(
    [files.filter((path) => !/^dist\/package\/[^/]+\.cjs$/.test(path)), files.length < 7, natives],
    [[], true, '0'],
  );
});

test('what a packed module imports is packed', () => {
  const files = new Set(packedFiles());
  const modules = [...files].filter((path) => /^dist\/.*(\.c?js|\.d\.c?ts)$/.test(path));
  const missing = modules.flatMap((path) =>
    ts
      .preProcessFile(ts.sys.readFile(join(installed().package, path)) ?? '', true, true)
      .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
      .map(({ fileName }) => join(path, '..', path.includes('.d.') ? fileName.replace(/\.js$/, '.d.ts') : fileName))
      .filter((wanted) => !files.has(wanted) || !existsSync(join(installed().package, wanted)))
      .map((wanted) => `${path} imports ${wanted}`),
  );
  assert.deepEqual(missing, []);
});
