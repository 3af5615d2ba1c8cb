import { locate } from './places/locate.js';
import { SourceTree } from './places/source-tree.js';

/** Of the package: from `dist/test/mutants` three folders up. */
export const ROOT = new URL('../../..', import.meta.url);

/** Games that may find a mutant; see `games.ts`. */
export const GAME_NAMES = [
  'traffic',
  'device-memory',
  'walk',
  'cm',
  'rxe',
  'stand-in',
  'messages',
  'kv-sim',
  'rsocket',
  'cm-faults',
  'cm-floods',
  'fuzz',
  'fuzz-run',
  'tests',
  'kv',
  'ucp-sim',
  'ucp',
  'xio-sim',
  'xio',
] as const;
export type GameName = (typeof GAME_NAMES)[number];

/** A rule of the NIC or of its connection manager, and how it is switched off. */
export interface Mutant {
  readonly name: string;
  readonly rule: string;
  /** Where the rule comes from: a section of docs/protocol or a clause of IBTA. */
  readonly source: string;
  /**
   * The declaration that the rule is in: `Class.member`, or a function or variable of a module. Where two folders have
   * declarations of one name that both hold `from`, `folder/Class.member`.
   */
  readonly in: string;
  /**
   * Code that is there exactly once, compared by tokens: white space, comments and quotes do not count. Short is better, and
   * without `return` and semicolon: the formatter puts a long expression in parentheses.
   */
  readonly from: string;
  /** What stands there instead, with the rule switched off. */
  readonly to: string;
  /** Games that should find it, in the order in which they are tried. */
  readonly games: readonly GameName[];
}

let everything: SourceTree | undefined;

export function sources(): SourceTree {
  everything ??= SourceTree.read(ROOT, 'src/');
  return everything;
}

/** A source file with a rule switched off. */
export interface Mutation {
  readonly file: string;
  readonly text: string;
}

/** @throws Error when the source does not hold the mutant's code exactly once */
export function mutate(mutant: Mutant, tree: SourceTree = sources()): Mutation {
  const { file, start, end } = locate(mutant, tree);
  const text = tree.textOf(file);
  return { file, text: text.slice(0, start) + mutant.to + text.slice(end) };
}
