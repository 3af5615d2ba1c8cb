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
const REACHES_MACHINE = /^src\/machine\/(hosting|links|system)\/|^test\/support\/(loopback|ports)\.ts$/;
/** Its provider is simulated unless a machine's providers are asked for. */
const CONFORMANCE = 'conformance';
/** They start the compiler or the linter, which fails for one reason only. */
const STARTS_TOOLS_ONLY = ['test/lint/', 'test/mutants/'];

/** The machine's tests that `npm test` runs as well: they show that the README's claims hold. */
const CLAIMS = [
  'cli/kv/',
  'cli/lab.test',
  'cli/perftest.test',
  'cli/pingpong.test',
  'cli/readme',
  'cli/rping.test',
  'cli/stale-build',
  'cli/transfer',
  'hosting/no-native',
  'hosting/two-processes',
  'install/package',
  'layers/net/',
  'run/launcher',
  'run/pingpong',
  'run/rdma-cm',
];

/** Tests of what differs from Node to Node. */
export const DEPENDS_ON_NODE = [
  'cli/readme',
  'clients',
  'hosting',
  'layers',
  'links',
  'net',
  'runtime',
  'run/',
  'system',
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
    importsFrom(file).some((path) => REACHES_MACHINE.test(path) || (path.startsWith('test/') && usesMachine(path)));
  verdicts.set(file, verdict);
  return verdict;
}

function testSources(folder = 'test') {
  return readdirSync(at(folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return testSources(path);
    return entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

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
  const sources = [...allSources('src'), ...allSources('test'), ...allSources('labs'), ...allSources('examples')];
  const importers = new Map();
  for (const source of sources)
    for (const path of importsFrom(source)) importers.set(path, [...(importers.get(path) ?? []), source]);
  const reached = new Set(files);
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  return [...reached].filter((file) => file.startsWith('test/') && file.endsWith('.test.ts'));
}

function allSources(folder) {
  return readdirSync(at(folder), { recursive: true })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => relative(root, join(at(folder), path)).replaceAll('\\', '/'));
}
