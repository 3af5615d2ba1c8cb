import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { loopback } from '../support/loopback.js';
import { Installation, installed, packedFiles } from './installation.js';
import { PROGRAMS } from './readme.js';

/** Runs Node in the project. */
function node(folder: string, args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** A file of the project. */
function written(folder: string, name: string, source: string): string {
  const path = join(folder, name);
  writeFileSync(path, source);
  return path;
}

for (const [index, source] of PROGRAMS.entries())
  test(`README's program ${index + 1} runs in a project that has the package`, () => {
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

const SIMULATION = "import { simulate } from 'verbena/sim';\nexport const run: unknown = simulate;\n";

for (const { name, module, moduleResolution } of RESOLUTIONS)
  test(`its types are found by the resolution '${name}', and are right by the strictest rules`, () => {
    using installation = new Installation();
    const { folder } = installation;
    installation.link('@types/node');
    written(folder, 'package.json', '{ "type": "module" }');
    const files = [...PROGRAMS, SIMULATION].map((source, i) => written(folder, `program-${i}.ts`, source));
    const program = ts.createProgram(files, {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      // Ours are to be right as well.
      skipLibCheck: false,
      target: ts.ScriptTarget.ES2023,
      module,
      moduleResolution,
      lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
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
    /^(src|test|scripts|bench|dist\/(test|bench))\/|^dist\/src\/.*\.map$/.test(path),
  );
  assert.deepEqual(needless, []);
  for (const path of [
    'bin/verbena',
    'dist/src/index.js',
    'dist/src/index.d.ts',
    'dist/src/api/sim/index.d.ts',
    'LICENSE',
  ])
    assert.ok(files.includes(path), path);
  assert.ok(files.length < 1000, `${files.length} files`);
});

test('what a packed module imports is packed', () => {
  const files = new Set(packedFiles());
  const modules = [...files].filter((path) => /^dist\/.*\.js$/.test(path));
  const missing = modules.flatMap((path) =>
    ts
      .preProcessFile(ts.sys.readFile(join(installed().package, path)) ?? '', true, true)
      .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
      .map(({ fileName }) => join(path, '..', fileName))
      .filter((wanted) => !files.has(wanted) || !existsSync(join(installed().package, wanted)))
      .map((wanted) => `${path} imports ${wanted}`),
  );
  assert.deepEqual(missing, []);
});
