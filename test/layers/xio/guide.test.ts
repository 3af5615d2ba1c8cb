import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import * as xio from '../../../src/xio.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const guide = readFileSync(join(ROOT, 'docs/xio.md'), 'utf8');
const programs = [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, source]) => source);
const OUTPUTS = [
  'hello world\n',
  '300000 bytes came\n1048576 7\n',
  '5000 1\n0\n',
  '9 7\n',
  'log 10\nlast 20000\nread\n',
  'hello world\n',
];

test('the guide has as many programs as are known', () => assert.equal(programs.length, OUTPUTS.length));

for (const [index, output] of OUTPUTS.entries())
  test(`the guide's program ${index + 1} runs as it stands`, () => {
    const { outputText } = ts.transpileModule(programs[index], {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
    });
    // Inside the package, so that its name resolves to it.
    const file = join(ROOT, 'dist', `xio-guide-${process.pid}-${index}.mjs`);
    writeFileSync(file, outputText);
    try {
      const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
      assert.deepEqual({ stdout, stderr }, { stdout: output, stderr: '' });
    } finally {
      rmSync(file);
    }
  });

test("the guide's programs have right types, by the strictest rules", () => {
  const files = programs.map((source, index) => {
    const file = join(ROOT, 'dist', `xio-guide-types-${process.pid}-${index}.mts`);
    writeFileSync(file, source);
    return file;
  });
  try {
    const program = ts.createProgram(files, {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.esnext.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      types: ['node'],
    });
    const problems = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
    assert.deepEqual(problems, []);
  } finally {
    for (const file of files) rmSync(file);
  }
});

test('the guide names no status that there is not', () => {
  const named = [...guide.matchAll(/XIO_E_\w+/g)].map(([name]) => name);
  assert.ok(named.length > 15);
  assert.deepEqual(
    named.filter((name) => !(name in xio.XioStatus)),
    [],
  );
});

test('the guide has every option, call and property of the API', () => {
  const source = readFileSync(join(ROOT, 'src/layers/xio/api.ts'), 'utf8');
  const members = [...source.matchAll(/^ {2}(?:readonly )?(\w+)\??(?::|\(|<)/gm)].map(([, name]) => name);
  assert.ok(members.length > 50);
  // Counts have names that say it.
  const statistics = /interface XioStatistics \{(.*?)^\}/ms.exec(source)?.[1] ?? '';
  const missing = members.filter(
    (name) => !new RegExp(`\\b${name}\\b`).test(guide) && !new RegExp(`\\b${name}:`).test(statistics),
  );
  assert.deepEqual([...new Set(missing)], []);
});

test('the guide has every call in the names of libxio.h, beside its name in C', () => {
  const calls = Object.keys(xio).filter((name) => /^xio[A-Z]/.test(name));
  assert.ok(calls.length > 20);
  const inC = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const rows = guide.split('\n').filter((line) => line.startsWith('| `xio_'));
  const missing = calls.filter(
    (name) => !rows.some((row) => row.includes(`\`${name}\``) && row.includes(`\`${inC(name)}\``)),
  );
  assert.deepEqual(missing, []);
});

test('the guide names no event or flag of libxio.h that there is not', () => {
  const known = { ...xio.XioSessionEvent, ...xio.XioMsgFlag };
  const named = [...guide.matchAll(/XIO_(?:SESSION|MSG)_\w+/g)].map(([name]) => name);
  assert.ok(named.length > 15);
  assert.deepEqual(
    named.filter((name) => !(name in known)),
    [],
  );
});
