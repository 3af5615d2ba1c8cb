import type { Declaration, Place, SourceTree } from './source-tree.js';
import { isName, type Token, tokensOf } from './tokens.js';

export interface Rule {
  readonly name: string;
  readonly in: string;
  readonly from: string;
  readonly to: string;
}

/** What a rule must say to find its place again. */
export interface Correction {
  readonly in: string;
  readonly from: string;
  readonly to: string;
  readonly place: Place;
}

const HOW = 'Edit it in test/mutants.json of the module';
const UPDATE = "'npm run mutants -- --update' does this";

const at = ({ file, line, declaration }: Place): string => `${declaration} (${file}:${String(line)})`;
const list = (places: readonly Place[]): string => places.map(at).join(', ');

/** Places whose declaration is of the same class or has the same name as a member. All places where there are none. */
function akin(name: string, places: readonly Place[]): readonly Place[] {
  const parts = name.slice(name.lastIndexOf('/') + 1).split('.');
  const some = places.filter(({ declaration }) => declaration.split('.').some((part, i) => part === parts[i]));
  return some.length === 0 ? places : some;
}

interface Fragment {
  readonly tokens: readonly Token[];
  /** Whether a comma follows, which the formatter leaves out before a closing bracket. */
  readonly endsWithComma: boolean;
}

function fragmentOf({ name, from }: Pick<Rule, 'name' | 'from'>): Fragment {
  const tokens = tokensOf(from);
  const endsWithComma = tokens.at(-1)?.key === ',';
  if (endsWithComma) tokens.pop();
  if (tokens.length === 0) throw new Error(`mutant ${name}: 'from' holds no code. ${HOW}.`);
  return { tokens, endsWithComma };
}

/** A place with the comma behind it, if any. Undefined where neither a comma nor a closing bracket follows. */
function withComma(place: Place, tree: SourceTree): Place | undefined {
  const behind = /^\s*([,)\]}])/.exec(tree.textOf(place.file).slice(place.end));
  if (behind === null) return undefined;
  return behind[1] === ',' ? { ...place, end: place.end + behind[0].length } : place;
}

type IsEqual = (wanted: Token, found: Token) => boolean;

/** Where a fragment occurs: in declarations, or in the whole tree. */
function placesOf(
  fragment: Fragment,
  tree: SourceTree,
  declarations?: readonly Declaration[],
  isEqual?: IsEqual,
): Place[] {
  const { tokens, endsWithComma } = fragment;
  const places =
    declarations === undefined
      ? tree.placesAnywhere(tokens, isEqual)
      : declarations.flatMap((declaration) => tree.placesWithin(declaration, tokens, isEqual));
  if (!endsWithComma) return places;
  return places.map((place) => withComma(place, tree)).filter((place) => place !== undefined);
}

/**
 * Finds the one place that a rule replaces: its fragment, in its declaration. White space, comments, kinds of quotes and
 * files do not count. When there is no declaration of that name any more, the fragment must be unique in the whole tree, or in
 * what is left of the class or has the member's name.
 * @throws Error when there is no such place, or more than one
 */
export function locate(rule: Rule, tree: SourceTree): Place {
  const fragment = fragmentOf(rule);
  const declarations = tree.named(rule.in);
  const places =
    declarations.length > 0 ? placesOf(fragment, tree, declarations) : akin(rule.in, placesOf(fragment, tree));
  if (places.length === 1) return places[0];
  if (places.length > 1)
    throw new Error(
      `mutant ${rule.name}: 'from' occurs ${String(places.length)} times: ${list(places)}. ` +
        `Make it longer, or put a folder before 'in'. ${HOW}:\n${rule.from}`,
    );
  const problem = declarations.length > 0 ? `${rule.in} does not hold 'from'` : `neither ${rule.in} nor 'from' exists`;
  throw new Error(`mutant ${rule.name}: ${problem}. ${advice(corrections(rule, tree))}:\n${rule.from}`);
}

function advice(found: readonly Correction[]): string {
  if (found.length === 0) return `Find what implements the rule now. ${HOW}`;
  const [{ place, from }] = found;
  if (found.length === 1) return `It may now be in ${at(place)} as '${from}'; ${UPDATE}`;
  return `It may now be in ${list(found.map((one) => one.place))}. ${HOW}`;
}

/** Names that differ between a fragment and a place of the same shape. Undefined when one name would become two, or two one. */
function renames({ tokens }: Fragment, place: Place): Map<string, string> | undefined {
  const names = new Map<string, string>();
  for (const [i, token] of tokens.entries()) {
    if (!isName(token)) continue;
    const { key } = place.tokens[i];
    if ((names.get(token.key) ?? key) !== key) return undefined;
    names.set(token.key, key);
  }
  return new Set(names.values()).size === names.size ? names : undefined;
}

function renamed(text: string, names: ReadonlyMap<string, string>): string {
  let result = '';
  let end = 0;
  for (const token of tokensOf(text)) {
    result += text.slice(end, token.start);
    result += isName(token) ? (names.get(token.key) ?? token.key) : text.slice(token.start, token.end);
    ({ end } = token);
  }
  return result + text.slice(end);
}

/**
 * Where a rule that is not found may be: code of the same shape with other names. Only the nearest, with the fewest other names:
 * in the declaration itself, or else anywhere, where at least half of the names must be the same.
 */
export function corrections(rule: Rule, tree: SourceTree): Correction[] {
  const fragment = fragmentOf(rule);
  const isAlike: IsEqual = (wanted, found) =>
    wanted.kind === found.kind && (isName(wanted) || wanted.key === found.key);
  const nearest = (places: readonly Place[], share: number): Correction[] => {
    const candidates = places.flatMap((place) => {
      const names = renames(fragment, place);
      if (names === undefined) return [];
      const changes = [...names].filter(([before, after]) => before !== after).length;
      return changes <= names.size * share ? [{ place, names, changes }] : [];
    });
    const fewest = Math.min(...candidates.map(({ changes }) => changes));
    return candidates
      .filter(({ changes }) => changes === fewest)
      .map(({ place, names }) => ({
        in: place.declaration,
        from: renamed(rule.from, names),
        to: renamed(rule.to, names),
        place,
      }));
  };
  const inside = nearest(placesOf(fragment, tree, tree.named(rule.in), isAlike), 1);
  return inside.length > 0 ? inside : nearest(akin(rule.in, placesOf(fragment, tree, undefined, isAlike)), 0.5);
}
