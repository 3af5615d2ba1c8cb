// `npm test`: types, the unit tier, and those tests of the machine tier that the README's claims rest on; format, lint and audit
// beside them. docs/testing.md describes the tiers.
//
//   npm test -- WORD...        the test files whose path contains one of the words, without format and lint
//   npm test -- --changed      the test files that depend on what was edited since the last commit
//   npm test -- --tier NAME    a whole tier: unit, machine, or all; rest: what `npm test` leaves out of both
//   npm test -- --node         the tests of what differs from Node to Node
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { at, root } from './build-state.mjs';
import { runWithReruns, testRunner } from './test-runs.mjs';
import { DEPENDS_ON_NODE, dependants, tiers } from './tiers.mjs';

const bin = (name) => at('node_modules', name);
/** Files that failed once and passed alone; CI keeps it. */
const UNSTABLE = at('dist', 'unstable.json');
const MACHINE_PROVIDERS = 'inline,thread';
/** Long tests play a share of their seeds and cases by this variable. */
const SHARE = 'VERBENA_TEST_SHARE';
const SHARES = 'test/support/share.ts';
/** They take longest, and start first: a long one that starts last leaves processors without work. */
const LONG_ROOMS = ['protocols-ucp', 'protocols-xio', 'protocols-kv', 'sim', 'api-rdmacm', 'device-nic'];

function readArguments() {
  const options = { changed: { type: 'boolean' }, node: { type: 'boolean' }, tier: { type: 'string' } };
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (values.tier !== undefined && !['unit', 'machine', 'rest', 'all'].includes(values.tier))
      throw new Error(`there is no tier '${values.tier}': say unit, machine, rest or all`);
    return { ...values, words: positionals.map((word) => word.replace(/\.ts$/, '')) };
  } catch (error) {
    process.stderr.write(`npm test: ${error.message}\n`);
    process.exit(2);
  }
}

const asked = readArguments();

// Only the install talks to a server. Reading certificates for that takes each process a tenth of a second, and a thousand
// processes are started here.
const environment = { ...process.env };
delete environment.NODE_EXTRA_CA_CERTS;

/** Runs a step, whose output is shown as it comes, or with `aside` when it has ended. Returns whether it succeeded. */
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

const compiled = (source) => join('dist', source.replace(/\.ts$/, '.js'));

/**
 * Tests of a folder that leave nothing behind in their process share one, since a process for each file would spend most of its
 * time on starting. All of the unit tier does so, and of the machine tier the conformance suite.
 */
function inSharedProcesses(sources, label) {
  const folder = at('dist', 'test-rooms');
  mkdirSync(folder, { recursive: true });
  const rooms = new Map();
  for (const source of sources) {
    // src/device/nic/test/retry.test.ts belongs to device-nic, test/walk/walk.test.ts to walk.
    const room = source
      .replace(/^src\//, '')
      .replace(/^test(-machine)?\/([^/]*).*/, '$2')
      .replace(/\/test\/.*/, '')
      .replaceAll('/', '-');
    rooms.set(room, [...(rooms.get(room) ?? []), source]);
  }
  return [...rooms].map(([room, files]) => {
    // The runner takes files in the order of their names.
    const path = join(folder, `${LONG_ROOMS.includes(room) ? '1' : '2'}-${room}-${label}.test.js`);
    const lines = files.map(
      (file) => `import ${JSON.stringify(relative(folder, at(compiled(file))).replaceAll('\\', '/'))};\n`,
    );
    writeFileSync(path, lines.join(''));
    return relative(root, path);
  });
}

const nodeTest = testRunner({
  folder: at('dist'),
  reporter: at('scripts', 'test-report.mjs'),
  step: (name, args, env) => step(name, args, { env: { ...environment, ...env } }),
  // One more than there are processors: many tests wait for other processes, or for a network.
  concurrency: availableParallelism() + 1,
  // The compiler's output is near enough to the source to read a stack by; maps cost a fifth of a file's start.
  options: asked.words.length > 0 ? ['--enable-source-maps'] : [],
});

/** Tests in virtual time. What fails here is wrong. */
async function unitTests(sources, share) {
  if (sources.length === 0) return true;
  return (await nodeTest('unit tests', inSharedProcesses(sources, 'unit'), { env: { [SHARE]: share } })).ok;
}

/** The test files to run for a file in which a test failed: a helper of tests may hold the test itself. */
function testFilesOf(file) {
  const source = relative('dist', file).replace(/\.js$/, '.ts');
  if (!existsSync(at(source))) return [];
  return source.endsWith('.test.ts') ? [file] : dependants([source]).map(compiled);
}

/** Tests on a machine that does other things as well. An unstable file is a bug of the test, to be mended at its root. */
async function machineTests(name, files, env = {}) {
  if (files.length === 0) return true;
  const say = (line) => process.stdout.write(`${line}\n`);
  const outcome = await runWithReruns({ name, files, run: nodeTest, testFilesOf, say, env });
  unstable.push(...outcome.unstable);
  return outcome.ok;
}

const unstable = [];

function reportUnstable() {
  if (unstable.length === 0) return;
  // Several runs of CI add to one list.
  const before = existsSync(UNSTABLE) ? JSON.parse(readFileSync(UNSTABLE, 'utf8')) : [];
  writeFileSync(UNSTABLE, `${JSON.stringify([...before, ...unstable], undefined, 2)}\n`);
  process.stdout.write('\n== unstable: failed, and passed when run alone\n');
  for (const { file, load, first } of unstable) {
    process.stdout.write(`${file} (load ${load.join(', ')})\n`);
    for (const { test, error } of first) process.stdout.write(`  ${test}\n    ${error.replaceAll('\n', '\n    ')}\n`);
  }
  process.stdout.write(`Written to ${relative(root, UNSTABLE)}. Each of these is a bug of the test.\n`);
}

/** What was edited since the last commit, or by the last commit where nothing was. */
function edited() {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
  const now = [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
  return now.length > 0 ? now : git('diff', '--name-only', 'HEAD~1');
}

/** The tests that the arguments ask for, and whether format and lint belong to them. */
function selected() {
  const all = tiers();
  const only = (wanted) => ({
    unit: all.unit.filter(wanted),
    machine: all.machine.filter(wanted),
  });
  if (asked.words.length > 0)
    return {
      ...only((source) => asked.words.some((word) => source.replace(/\.ts$/, '.js').includes(word))),
      alone: true,
    };
  if (asked.changed) {
    const wanted = new Set(dependants(edited()));
    return { ...only((source) => wanted.has(source)), alone: true };
  }
  if (asked.node)
    return {
      ...only((source) => DEPENDS_ON_NODE.some((word) => source.startsWith(word))),
      share: 'first',
      alone: true,
    };
  if (asked.tier === 'unit') return { unit: all.unit, machine: [], alone: true };
  if (asked.tier === 'machine') return { unit: [], machine: all.machine, conformance: all.unit, alone: true };
  if (asked.tier === 'rest')
    return {
      unit: dependants([SHARES]).filter((source) => all.unit.includes(source)),
      share: 'rest',
      machine: all.machine.filter((source) => !all.claims.includes(source)),
      conformance: all.unit,
      alone: true,
    };
  if (asked.tier === 'all') return { unit: all.unit, machine: all.machine, conformance: all.unit, alone: true };
  return { unit: all.unit, share: 'first', machine: all.claims, alone: false };
}

async function chosenTests({ unit, share = 'all', machine, conformance = [] }) {
  if (unit.length + machine.length === 0) {
    process.stderr.write('npm test: no test file matches\n');
    return false;
  }
  const onMachine = conformance.filter((source) => source.startsWith('test/conformance/'));
  const verdicts = [
    await unitTests(unit, share),
    await machineTests('machine tests', machine.map(compiled)),
    await machineTests('conformance on machine', inSharedProcesses(onMachine, 'machine'), {
      VERBENA_TEST_PROVIDERS: MACHINE_PROVIDERS,
    }),
  ];
  reportUnstable();
  return !verdicts.includes(false);
}

/** Needs nothing of what is compiled. */
async function style() {
  const formatted = await step('format', [bin('oxfmt/bin/oxfmt'), '--check'], { aside: true });
  return (await step('lint', [bin('oxlint/bin/oxlint'), '--deny-warnings'], { aside: true })) && formatted;
}

/** npm asks for known vulnerabilities, and may need certificates for that. */
const audit = () => step('audit', ['scripts/audit.mjs'], { env: process.env, aside: true });

async function main() {
  if (!(await step('install', ['scripts/setup.mjs', '--install-only'], { env: process.env }))) return [false];
  const choice = selected();
  const built = async () => (await step('types', ['scripts/setup.mjs'])) && (await chosenTests(choice));
  return Promise.all(choice.alone ? [built()] : [style(), audit(), built()]);
}

if ((await main()).includes(false)) {
  process.stdout.write('\nnpm test: failed; see above which step\n');
  process.exitCode = 1;
}
