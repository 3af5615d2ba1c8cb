/** The page that `node scripts/page.mjs conformance` prints: the preface, then every foreign case and its tests here. */
import { readFileSync } from 'node:fs';
import { type ForeignCase, foreignCases, type ForeignSource } from './foreign.js';

const ROOT = new URL('../../..', import.meta.url);

const PREFACE = new URL('test/conformance/preface.md', ROOT);

const SUITES: Readonly<Record<ForeignSource, string>> = {
  'rdma-unit-test': '[google/rdma-unit-test](https://github.com/google/rdma-unit-test)',
  pyverbs: 'pyverbs, of [linux-rdma/rdma-core](https://github.com/linux-rdma/rdma-core)',
};

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

function answer({ tests, reason, note }: ForeignCase): string {
  const said = reason === undefined ? listTests(tests) : `No test: ${reason}`;
  return note === undefined ? said : `${said}<br>*${note}*`;
}

function table(cases: readonly ForeignCase[]): string {
  const rows = cases.map((one) => `| \`${one.name}\` | ${cell(one.checks)} | ${cell(answer(one))} |`);
  return ['| their case | what it checks | ours |', '|---|---|---|', ...rows].join('\n');
}

const countTested = (cases: readonly ForeignCase[]): number => cases.filter(({ tests }) => tests.length > 0).length;

const countNoted = (cases: readonly ForeignCase[]): number =>
  cases.filter(({ tests, note }) => tests.length > 0 && note !== undefined).length;

function section(source: ForeignSource, cases: readonly ForeignCase[]): string {
  const byFile = new Map<string, ForeignCase[]>();
  for (const one of cases) byFile.set(one.file, [...(byFile.get(one.file) ?? []), one]);
  const files = [...byFile].sort(([a], [b]) => (a < b ? -1 : 1));
  const intro =
    `## ${source}\n\n${SUITES[source]}: ${cases.length} cases, ${countTested(cases)} of them with tests here, ` +
    `of which ${countNoted(cases)} have a note about a difference.`;
  return [intro, ...files.map(([file, found]) => `### ${file}\n\n${table(found)}`)].join('\n\n');
}

export function conformanceDocument(): string {
  const sources = Object.keys(SUITES) as ForeignSource[]; // the keys of a record of all sources
  const sections = sources.map((source) => {
    return section(
      source,
      foreignCases.filter((one) => one.source === source),
    );
  });
  return `${[readFileSync(PREFACE, 'utf8').trim(), ...sections].join('\n\n')}\n`;
}
