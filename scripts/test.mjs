// `npm test`: formatting, lint, types, then all tests. `npm test -- test/wire nic/retry` runs only the tests whose
// path contains one of the words, without the steps before.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function step(name, args) {
  process.stdout.write(`\n== ${name}\n`);
  const started = Date.now();
  const run = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (run.error) throw run.error;
  if (run.status !== 0) {
    process.stderr.write(`\n${name}: failed\n`);
    process.exit(run.status ?? 1);
  }
  process.stdout.write(`${name}: ok, ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
}

// Node 20 takes folders here and Node 22 takes globs, so the files are found by hand.
function testFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return testFiles(path);
    return entry.name.endsWith('.test.js') ? [relative(root, path)] : [];
  });
}

const words = process.argv.slice(2).map((word) => word.replace(/\.ts$/, ''));
const bin = (name) => join(root, 'node_modules', name);

step('install', ['scripts/setup.mjs', '--install-only']);
if (words.length === 0) {
  step('format', [bin('prettier/bin/prettier.cjs'), '--check', '--log-level=warn', '--cache', '.']);
  step('lint', [bin('eslint/bin/eslint.js'), '--max-warnings=0', '.']);
}
step('types', ['scripts/setup.mjs']);

const files = testFiles(join(root, 'dist', 'test'))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort();
if (files.length === 0) {
  process.stderr.write('no test file matches\n');
  process.exit(1);
}
step('tests', [
  '--enable-source-maps',
  '--test',
  '--test-reporter=spec',
  `--test-concurrency=${String(Math.max(2, availableParallelism()))}`,
  ...files,
]);
