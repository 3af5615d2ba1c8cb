// Which test files belong to which tier. A file whose own code, or a helper of the tests that it imports, uses processes,
// threads, sockets or the machine's own NICs belongs to the machine tier. All others run in virtual time and cannot fail by
// chance: the unit tier.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { at, root } from './build-state.mjs';
import { importsOf } from './lint/circles.mjs';

const NODE_PARTS = [
  'child_process',
  'cluster',
  'dgram',
  'http',
  'https',
  'net',
  'timers/promises',
  'tls',
  'worker_threads',
];
const USES_MACHINE = new RegExp(`['"]node:(${NODE_PARTS.join('|')})['"]`);
/** Modules of the product that reach the machine, and helpers that lend its addresses. */
const REACHES_MACHINE = /^src\/node\/(hosting|links|system)\/(?!test\/)|^test\/support\/(loopback|ports)\.ts$/;
/** Its provider is simulated unless a machine's providers are asked for. */
const CONFORMANCE = 'conformance';
/** They start the compiler, the linter or the runner of tests, which fail for one reason only. */
const STARTS_TOOLS_ONLY = ['test/lint/', 'test/mutants/', 'test/runner/'];

/** The machine's tests that `npm test` runs as well: they show that the README's claims hold. */
const CLAIMS = [
  'src/cli/test/kv/calls.test',
  'src/cli/test/kv/serve.test',
  'src/cli/test/lab.test',
  'src/cli/test/perftest.test',
  'src/cli/test/pingpong.test',
  'src/cli/test/readme',
  'src/cli/test/rping.test',
  'src/cli/test/stale-build',
  'src/cli/test/transfer',
  'src/node/hosting/test/no-native',
  'src/node/hosting/test/two-processes',
  'test/install/package',
  'src/protocols/net/test/',
  'src/run/test/launcher',
  'src/run/test/pingpong',
  'src/run/test/rdma-cm',
];

/** Tests of what differs from Node to Node. */
export const DEPENDS_ON_NODE = [
  'src/api/runtime/test/',
  'src/cli/test/readme',
  'src/node/hosting/test/',
  'src/node/links/test/',
  'src/node/system/test/',
  'src/protocols/',
  'src/run/test/',
];

const textOf = new Map();
function read(file) {
  if (!textOf.has(file)) textOf.set(file, existsSync(at(file)) ? readFileSync(at(file), 'utf8') : '');
  return textOf.get(file);
}

const imports = new Map();
/** What a source imports, by path from the root. Names of the package count as its entry points. */
function importsFrom(file) {
  if (!imports.has(file)) imports.set(file, importsOf(file, read(file)));
  return imports.get(file);
}

const verdicts = new Map();
function usesMachine(file) {
  if (verdicts.has(file)) return verdicts.get(file);
  // A circle ends here.
  verdicts.set(file, false);
  const verdict =
    USES_MACHINE.test(read(file)) ||
    importsFrom(file).some((path) => REACHES_MACHINE.test(path) || (isOfTests(path) && usesMachine(path)));
  verdicts.set(file, verdict);
  return verdict;
}

/** Folders of tests: beside the modules of src, and those that cross modules. */
const FOLDERS = ['src', 'test', 'test-machine'];
const isOfTests = (path) => /^(src\/.*\/test|test|test-machine)\//.test(path);

const testSources = () => FOLDERS.flatMap(allSources).filter((path) => isOfTests(path) && path.endsWith('.test.ts'));

function isOfMachine(source) {
  if (source.startsWith(`test/${CONFORMANCE}/`)) return false;
  return !STARTS_TOOLS_ONLY.some((folder) => source.startsWith(folder)) && usesMachine(source);
}

/** All test sources by tier, with `claims` for those of the machine tier that `npm test` runs. */
export function tiers() {
  const sources = testSources().sort();
  const machine = sources.filter(isOfMachine);
  return {
    unit: sources.filter((source) => !machine.includes(source)),
    machine,
    claims: machine.filter((source) => CLAIMS.some((word) => source.includes(word))),
  };
}

/** Test sources that depend, through however many imports, on one of these files. */
export function dependants(files) {
  const sources = [...FOLDERS, 'labs', 'examples'].flatMap(allSources);
  const importers = new Map();
  for (const source of sources)
    for (const path of importsFrom(source)) importers.set(path, [...(importers.get(path) ?? []), source]);
  const reached = new Set(files);
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  return [...reached].filter((file) => isOfTests(file) && file.endsWith('.test.ts'));
}

function allSources(folder) {
  return readdirSync(at(folder), { recursive: true })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => relative(root, join(at(folder), path)).replaceAll('\\', '/'));
}
