/** The page that `node scripts/page.mjs conformance` prints: the preface, then every foreign case and its tests here. */
import { readFileSync } from 'node:fs';
import type { ForeignSource } from './foreign/index.js';
import { loadMappings, type MappedCase, mappedCases, type MappingEntry, testsNamedBy } from './mapping/index.js';

const ROOT = new URL('../../..', import.meta.url);

/** The part that is written by hand. */
const PREFACE = new URL('test/conformance/preface.md', ROOT);

const SUITES: Readonly<Record<ForeignSource, string>> = {
  'rdma-unit-test': '[google/rdma-unit-test](https://github.com/google/rdma-unit-test)',
  pyverbs: 'pyverbs, of [linux-rdma/rdma-core](https://github.com/linux-rdma/rdma-core)',
};

/** Text inside a table's cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** Of so many tests that differ in a parameter alone, the first two say what they are like. */
const MANY = 5;

const listNames = (names: readonly string[]): string =>
  names.length < MANY ? names.join('; ') : `${names.slice(0, 2).join('; ')}; and ${names.length - 2} more of the kind`;

/** Tests of one description are named after it once. */
function listTests(tests: readonly string[]): string {
  const byTitle = new Map<string, string[]>();
  for (const test of tests) {
    const [title, ...name] = test.split(' › ');
    byTitle.set(title, [...(byTitle.get(title) ?? []), name.join(' › ')]);
  }
  return [...byTitle].map(([title, names]) => `**${title}:** ${listNames(names)}`).join('. ');
}

function answer(entry: MappingEntry | undefined): string {
  if (entry === undefined) return '(nothing yet)';
  const said = 'reason' in entry ? `No test: ${entry.reason}` : listTests(testsNamedBy(entry));
  return entry.note === undefined ? said : `${said}<br>*${entry.note}*`;
}

function table(cases: readonly MappedCase[]): string {
  const rows = cases.map(
    ({ foreign, entry }) => `| \`${foreign.name}\` | ${cell(foreign.checks)} | ${cell(answer(entry))} |`,
  );
  return ['| their case | what it checks | ours |', '|---|---|---|', ...rows].join('\n');
}

const countTested = (cases: readonly MappedCase[]): number =>
  cases.filter(({ entry }) => testsNamedBy(entry).length > 0).length;

const countNoted = (cases: readonly MappedCase[]): number =>
  cases.filter(({ entry }) => testsNamedBy(entry).length > 0 && entry?.note !== undefined).length;

function section(source: ForeignSource, cases: readonly MappedCase[]): string {
  const byFile = new Map<string, MappedCase[]>();
  for (const mapped of cases) byFile.set(mapped.foreign.file, [...(byFile.get(mapped.foreign.file) ?? []), mapped]);
  const files = [...byFile].sort(([a], [b]) => (a < b ? -1 : 1));
  const intro =
    `## ${source}\n\n${SUITES[source]}: ${cases.length} cases, ${countTested(cases)} of them with tests here, ` +
    `of which ${countNoted(cases)} have a note on where ours differ.`;
  return [intro, ...files.map(([file, found]) => `### ${file}\n\n${table(found)}`)].join('\n\n');
}

/** The whole document. */
export async function conformanceDocument(): Promise<string> {
  const cases = mappedCases(await loadMappings());
  const sources = Object.keys(SUITES) as ForeignSource[]; // the keys of a record of all sources
  const sections = sources.map((source) => {
    const theirs = cases.filter(({ foreign }) => foreign.source === source);
    return section(source, theirs);
  });
  return `${[readFileSync(PREFACE, 'utf8').trim(), ...sections].join('\n\n')}\n`;
}
