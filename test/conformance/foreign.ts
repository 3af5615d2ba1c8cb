import { readdirSync, readFileSync } from 'node:fs';

/** A file for each file of a foreign suite, a line for each of its cases. */
const FOLDER = new URL('../../../test/conformance/foreign/', import.meta.url);
const SOURCES = ['rdma-unit-test', 'pyverbs'] as const;

export type ForeignSource = (typeof SOURCES)[number];

/**
 * What a test of another project's verbs suite checks, and where it stands here. The sentences are our own, so that an
 * equivalent test can be written without a look at theirs.
 */
export interface ForeignCase {
  readonly source: ForeignSource;
  readonly file: string;
  /** `Suite.case`, exactly as theirs. A parametrised case is one case; its sentence names the parameters. */
  readonly name: string;
  /** What is done to what, and which errno, completion status or event must come of it. */
  readonly checks: string;
  /** `<file stem>: <describe title> › <test name>` of the tests here. */
  readonly tests: readonly string[];
  /** Why no software NIC could check it, or what this device says instead; where there are no tests. */
  readonly reason?: string;
  readonly note?: string;
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new Error(`not an object: ${JSON.stringify(value)}`);
  return Object.fromEntries(Object.entries(value));
}

/** @throws Error for JSON that is no case, and for a case that has neither tests nor a reason */
export function caseIn(source: ForeignSource, file: string, value: unknown): ForeignCase {
  const { name, checks, tests = [], reason, note, ...others } = objectIn(value);
  const isText = (text: unknown): text is string => typeof text === 'string' && text !== '';
  const isWhole = isText(name) && isText(checks) && Array.isArray(tests) && tests.every(isText);
  if (!isWhole || Object.keys(others).length > 0 || (tests.length === 0) !== isText(reason))
    throw new Error(`${file}: not a case with either tests or a reason: ${JSON.stringify(value)}`);
  const answer = { ...(isText(reason) ? { reason } : {}), ...(isText(note) ? { note } : {}) };
  return { source, file, name, checks, tests, ...answer };
}

function casesIn(name: string): readonly ForeignCase[] {
  const { source, file, cases } = objectIn(JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')));
  const known = SOURCES.find((one) => one === source);
  if (known === undefined || typeof file !== 'string' || !Array.isArray(cases))
    throw new Error(`${name} is no file of foreign cases`);
  return cases.map((value) => caseIn(known, file, value));
}

/** Every case of both foreign suites; `${source}:${name}` is unique. */
export const foreignCases: readonly ForeignCase[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .sort()
  .flatMap(casesIn);
