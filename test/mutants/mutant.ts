import { readFileSync } from 'node:fs';

/** Of the package: from `dist/test/mutants` three folders up. */
export const ROOT = new URL('../../..', import.meta.url);

/** A game that may find a mutant; see `games.ts`. */
export type GameName =
  | 'traffic'
  | 'device-memory'
  | 'walk'
  | 'cm'
  | 'rxe'
  | 'messages'
  | 'kv-sim'
  | 'rsocket'
  | 'cm-faults'
  | 'cm-floods'
  | 'fuzz'
  | 'fuzz-run'
  | 'tests'
  | 'kv'
  | 'ucp-sim'
  | 'ucp'
  | 'xio-sim'
  | 'xio';

/** A rule of the NIC or of its connection manager, and how it is switched off. */
export interface Mutant {
  /** For the command line. */
  readonly name: string;
  /** The rule as it should be. */
  readonly rule: string;
  /** Where the rule comes from: a section of protocol.md or a clause of IBTA. */
  readonly source: string;
  /** Source file, from the root of the package. */
  readonly file: string;
  /** What stands there, exactly once. */
  readonly from: string;
  /** What stands there instead, with the rule switched off. */
  readonly to: string;
  /** Games that should find it, in the order in which they are tried. */
  readonly games: readonly GameName[];
}

/** @throws Error when the source does not hold the mutant's expression exactly once */
export function mutate({ name, file, from, to }: Mutant, source: string): string {
  const times = source.split(from).length - 1;
  if (times !== 1)
    throw new Error(
      `mutant ${name}: ${file} holds ${times === 0 ? 'nowhere' : `${times} times`} what is to be replaced:\n${from}`,
    );
  // A function, since a dollar sign in a replacement string has a meaning.
  return source.replace(from, () => to);
}

/** The source of a file that a mutant changes. */
export function sourceOf({ file }: Pick<Mutant, 'file'>): string {
  return readFileSync(new URL(file, ROOT), 'utf8');
}
