// `npm test`: types, then all tests, with formatting and lint checked beside them. `npm test -- test/wire nic/retry` runs
// only the tests whose path contains one of the words, without format and lint; `--tests` all of them, without those.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const TESTS_ONLY = '--tests';
const asked = process.argv.slice(2);
const words = asked.filter((word) => word !== TESTS_ONLY).map((word) => word.replace(/\.ts$/, ''));
const all = words.length === 0;
const alone = !all || asked.includes(TESTS_ONLY);
const bin = (name) => join(root, 'node_modules', name);

// Only the install talks to a server. To read certificates for that takes each process a tenth of a second, and a
// thousand processes are started here.
const environment = { ...process.env };
delete environment['NODE_EXTRA_CA_CERTS'];

/** Runs a step, whose words are shown as they come, or with `aside` when it has ended. Returns whether it went well. */
async function step(name, args, { env = environment, aside = false } = {}) {
  if (!aside) process.stdout.write(`\n== ${name}\n`);
  const started = Date.now();
  const child = spawn(process.execPath, args, {
    cwd: root,
    env,
    stdio: aside ? ['ignore', 'pipe', 'pipe'] : 'inherit',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text));
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  const verdict = code === 0 ? `ok, ${((Date.now() - started) / 1000).toFixed(1)} s` : 'failed';
  process.stdout.write(`${aside ? `\n== ${name}, beside the others\n${output}` : ''}${name}: ${verdict}\n`);
  return code === 0;
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

/**
 * The tests of these rooms leave nothing behind, neither in the process nor in the machine: those of a room share one
 * process, where one for each file would spend most of its time on starting.
 */
const SHARED = [
  'cm',
  'conformance',
  'explain',
  'ibta',
  'layers/dissectors',
  'layers/engine',
  'layers/kv',
  'layers/messages',
  'layers/rsocket',
  'layers/ucp',
  'layers/xio',
  'link',
  'nic',
  'rdmacm',
  'sim-api',
  'sim-guide',
  'soft',
  'verbs',
  'wire',
];

function withSharedProcesses(files) {
  const folder = join(root, 'dist', 'test-rooms');
  mkdirSync(folder, { recursive: true });
  const rest = new Set(files);
  const shared = SHARED.flatMap((room) => {
    const own = files.filter((file) => file.startsWith(join('dist', 'test', ...room.split('/'), '/')));
    if (own.length === 0) return [];
    for (const file of own) rest.delete(file);
    const path = join(folder, `${room.replaceAll('/', '-')}.test.js`);
    const lines = own.map(
      (file) => `import ${JSON.stringify(relative(folder, join(root, file)).replaceAll('\\', '/'))};\n`,
    );
    writeFileSync(path, lines.join(''));
    return [relative(root, path)];
  });
  return [...rest, ...shared];
}

async function tests() {
  const files = testFiles(join(root, 'dist', 'test'))
    .filter((file) => all || words.some((word) => file.includes(word)))
    .sort();
  if (files.length === 0) {
    process.stderr.write('no test file matches\n');
    return false;
  }
  return step('tests', [
    // A fifth of what a file's start takes. The compiler's output is near enough to the source to read a stack by.
    ...(all ? [] : ['--enable-source-maps']),
    '--test',
    '--test-reporter=spec',
    // One more than there are processors: many tests wait for other processes, or for a network.
    `--test-concurrency=${String(availableParallelism() + 1)}`,
    ...(all ? withSharedProcesses(files) : files),
  ]);
}

/** What needs nothing of what is compiled. */
async function style() {
  const formatted = await step('format', [bin('oxfmt/bin/oxfmt'), '--check'], { aside: true });
  return (await step('lint', [bin('oxlint/bin/oxlint'), '--deny-warnings'], { aside: true })) && formatted;
}

/** Needs npm to ask for what is known, and the certificates that npm may need for that. */
const audit = () => step('audit', ['scripts/audit.mjs'], { env: process.env, aside: true });

const built = async () => (await step('types', ['scripts/setup.mjs'])) && (await tests());

const verdicts = (await step('install', ['scripts/setup.mjs', '--install-only'], { env: process.env }))
  ? await Promise.all(alone ? [built()] : [style(), audit(), built()])
  : [false];
if (verdicts.includes(false)) {
  process.stdout.write('\nnpm test: failed; see above which step\n');
  process.exitCode = 1;
}
