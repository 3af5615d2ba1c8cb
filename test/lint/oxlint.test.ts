import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A clone whose only sources break one rule each. */
const clone = mkdtempSync(join(tmpdir(), 'verbena-lint-'));
after(() => rmSync(clone, { recursive: true }));

function write(path: string, source: string): void {
  const file = join(clone, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, source);
}

for (const path of ['.oxlintrc.json', 'package.json', 'tsconfig.json', 'src/tsconfig.json'])
  cpSync(join(ROOT, path), join(clone, path), { recursive: true });
cpSync(join(ROOT, 'scripts', 'lint'), join(clone, 'scripts', 'lint'), { recursive: true });
symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
for (const room of ['device/wire', 'device/nic', 'api/verbs', 'providers/soft', 'protocols/core', 'node/system', 'cli'])
  write(`src/${room}/index.ts`, 'export const x = 1;\n');

/** By the file, its source and the rule that must refuse it. */
const VIOLATIONS: Readonly<Record<string, readonly [source: string, rule: string]>> = {
  'src/device/wire/upward.ts': ["export { x } from '../nic/index.js';\n", 'verbena(rooms)'],
  'src/device/nic/into-api.ts': ["export type { x } from '../../api/verbs/index.js';\n", 'verbena(rooms)'],
  'src/device/nic/of-node.ts': ["export { readFileSync } from 'node:fs';\n", 'verbena(rooms)'],
  'src/providers/soft/of-a-package.ts': ["export const k = import('koffi');\n", 'verbena(rooms)'],
  'src/protocols/core/of-the-machine.ts': ["export { x } from '../../node/system/index.js';\n", 'verbena(rooms)'],
  'src/device/nic/inner.ts': ["export { y } from '../wire/inner/deep.js';\n", 'verbena(rooms)'],
  'src/device/wire/inner/deep.ts': [`export const y = 2;\n${'//\n'.repeat(30)}`, ''],
  'src/device/nic/one.ts': ["export { two } from './two.js';\nexport const one = 1;\n", 'verbena(circles)'],
  'src/device/nic/two.ts': [
    "import type { one } from './one.js';\nexport const two: typeof one = 1;\n",
    'verbena(circles)',
  ],
  'src/device/nic/fragment.ts': ['export const f = 1;\n', 'verbena(small-files)'],
  'src/device/nic/reader.ts': [`export { f } from './fragment.js';\n${'export {};\n'.repeat(30)}`, ''],
  'src/device/nic/clock.ts': ['export const t = Date.now();\n', 'eslint(no-restricted-properties)'],
  'src/providers/soft/dice.ts': ['export const d = Math.random();\n', 'eslint(no-restricted-properties)'],
  'src/device/nic/timer.ts': ['export const s = setTimeout;\n', 'eslint(no-restricted-globals)'],
  'src/providers/soft/buffer.ts': ['export const b = Buffer.alloc(1);\n', 'eslint(no-restricted-globals)'],
  'src/protocols/core/prints.ts': ["console.log('x');\n", 'eslint(no-console)'],
  'src/device/nic/default.ts': ['const z = 1;\nexport default z;\n', 'import(no-default-export)'],
  'src/device/nic/enum.ts': ['export enum E {\n  A,\n}\n', 'verbena(no-enum)'],
  'src/device/nic/any.ts': ['export const a = (v: any): number => v.length;\n', 'typescript(no-explicit-any)'],
  'src/device/nic/bang.ts': ['export const n = (v?: string): string => v!;\n', 'typescript(no-non-null-assertion)'],
  'src/node/system/floating.ts': [
    'export function go(p: Promise<void>): void {\n  p;\n}\n',
    'typescript(no-floating-promises)',
  ],
  'src/node/system/long.ts': ['export {};\n'.repeat(901), 'eslint(max-lines)'],
};
for (const [path, [source]] of Object.entries(VIOLATIONS)) write(path, source);

interface Report {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
}

/** The rules that each file breaks, by the linter. */
function lint(): ReadonlyMap<string, ReadonlySet<string>> {
  const oxlint = join(ROOT, 'node_modules', 'oxlint', 'bin', 'oxlint');
  const { stdout } = spawnSync(process.execPath, [oxlint, '--format=json', 'src'], { cwd: clone, encoding: 'utf8' });
  // The linter's own output, which has this shape.
  const { diagnostics } = JSON.parse(stdout) as Report;
  const broken = new Map<string, Set<string>>();
  for (const { filename, code } of diagnostics) broken.set(filename, (broken.get(filename) ?? new Set()).add(code));
  return broken;
}

const broken = lint();

for (const [path, [, rule]] of Object.entries(VIOLATIONS)) {
  if (rule === '') continue;
  test(`${rule} refuses ${path}`, () => {
    assert.ok(broken.get(path)?.has(rule), `${path} breaks ${[...(broken.get(path) ?? ['no rule'])].join(', ')}`);
  });
}

test('what breaks no rule is let pass', () => {
  assert.equal(broken.get('src/device/wire/inner/deep.ts'), undefined);
});
