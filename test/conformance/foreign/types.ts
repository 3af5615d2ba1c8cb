// What other people's verbs test suites check, as data: the facts of each case in a sentence of our own, so that an
// equivalent test can be written, or said to exist, without a look at theirs.

export type ForeignSource = 'rdma-unit-test' | 'pyverbs';

export interface ForeignCase {
  readonly source: ForeignSource;
  /** Path inside the foreign repository. */
  readonly file: string;
  /** `Suite.case`, exactly as theirs. A parametrised case is one case; its sentence names the parameters. */
  readonly name: string;
  /** What is done to what, and which errno, completion status or event must come of it. */
  readonly checks: string;
}

/** The cases of one foreign file, in their order: `Suite.case` to what it checks. */
export const casesOf = (
  source: ForeignSource,
  file: string,
  checks: Readonly<Record<string, string>>,
): readonly ForeignCase[] =>
  Object.entries(checks).map(([name, sentence]) => ({ source, file, name, checks: sentence }));
