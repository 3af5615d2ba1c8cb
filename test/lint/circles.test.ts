import assert from 'node:assert/strict';
import { test } from 'node:test';

interface Circles {
  importsOf: (file: string, text: string) => string[];
  wayBetween: (graph: ReadonlyMap<string, readonly string[]>, from: string, to: string) => string[] | undefined;
}

const { importsOf, wayBetween } = (await import(
  new URL('../../../scripts/lint/circles.mjs', import.meta.url).href
)) as Circles;

/** The circle that the import of `imported` in `file` closes. */
function circle(sources: Readonly<Record<string, string>>, file: string, imported: string): string[] | undefined {
  const graph = new Map(Object.entries(sources).map(([path, text]) => [path, importsOf(path, text)]));
  assert.ok(graph.get(file)?.includes(imported), `${file} does not import ${imported}`);
  return wayBetween(graph, imported, file);
}

const CIRCLES: readonly [what: string, sources: Readonly<Record<string, string>>][] = [
  [
    'by value',
    {
      'src/nic/a.ts': "import { b } from './b.js';",
      'src/nic/b.ts': "import { a } from './a.js';\nexport const b = a;",
    },
  ],
  ['by type', { 'src/nic/a.ts': "import { b } from './b.js';", 'src/nic/b.ts': "import type { A } from './a.js';" }],
  [
    'by a type among values, in several lines',
    {
      'src/nic/a.ts': "import { c } from './b.js';",
      'src/nic/b.ts': "import {\n  type A,\n  d,\n} from './a.js';",
    },
  ],
  [
    'by a type that is imported where it stands',
    { 'src/nic/a.ts': "import { b } from './b.js';", 'src/nic/b.ts': "let a: import('./a.js').A;" },
  ],
  ['by export', { 'src/nic/a.ts': "export * from './b.js';", 'src/nic/b.ts': "export { a } from './a.js';" }],
  [
    'through another folder',
    {
      'src/nic/a.ts': "import { b } from './b.js';",
      'src/nic/b.ts': "import { c } from './reliable/c.js';",
      'src/nic/reliable/c.ts': "import type { A } from '../a.js';",
    },
  ],
];
for (const [what, sources] of CIRCLES) {
  test(`a circle ${what} is refused`, () => {
    const way = circle(sources, 'src/nic/a.ts', 'src/nic/b.ts');
    assert.deepEqual([way?.at(0), way?.at(-1)], ['src/nic/b.ts', 'src/nic/a.ts']);
  });
}

test('a file that imports itself is refused', () => {
  assert.ok(circle({ 'src/nic/a.ts': "export { b } from './a.js';" }, 'src/nic/a.ts', 'src/nic/a.ts'));
});

test('the shortest circle is named', () => {
  const sources = {
    'src/a.ts': "import './x.js';\nimport { b } from './b.js';",
    'src/b.ts': "import { c } from './c.js';\nimport { a } from './a.js';",
    'src/c.ts': "import { a } from './a.js';",
  };
  assert.deepEqual(circle(sources, 'src/a.ts', 'src/b.ts'), ['src/b.ts', 'src/a.ts']);
});

test('two files that lean on a third, packages, and imports in comments are let pass', () => {
  const sources = {
    'src/a.ts': "import { b } from './b.js';\nimport type { C } from './c.js';",
    'src/b.ts': "import type { C } from './c.js';\nimport { a } from 'a';\n// import { a } from './a.js';",
    'src/c.ts': "/**\n * ```ts\n * import { a } from './a.js';\n * ```\n */\nimport { readFileSync } from 'node:fs';",
  };
  assert.equal(circle(sources, 'src/a.ts', 'src/b.ts'), undefined);
  assert.equal(circle(sources, 'src/a.ts', 'src/c.ts'), undefined);
});
