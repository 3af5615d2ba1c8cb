import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { GAME_NAMES, type GameName, type Mutant, ROOT } from './mutant.js';

/** The rules of a module lie beside its tests. */
const FILE = /(?:^|[\\/])test[\\/]mutants\.json$/;

export interface Table {
  readonly url: URL;
  readonly rules: readonly Mutant[];
}

const isGame = (value: unknown): value is GameName => GAME_NAMES.some((name) => name === value);

/** @throws Error for JSON that is not a rule */
export function ruleIn(value: unknown): Mutant {
  const field = (name: string): unknown =>
    typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined;
  const text = (name: string): string => {
    const found = field(name);
    if (typeof found === 'string') return found;
    throw new Error(`not a rule: ${name} is no text in ${JSON.stringify(value)}`);
  };
  const games = field('games');
  if (!Array.isArray(games) || games.length === 0 || !games.every(isGame))
    throw new Error(`not a rule: games are ${JSON.stringify(games)}. Name some of ${GAME_NAMES.join(', ')}`);
  return {
    name: text('name'),
    rule: text('rule'),
    source: text('source'),
    in: text('in'),
    from: text('from'),
    to: text('to'),
    games,
  };
}

function read(url: URL): Table {
  const list: unknown = JSON.parse(readFileSync(url, 'utf8'));
  if (!Array.isArray(list)) throw new Error(`${url.pathname} is no list of rules`);
  return { url, rules: list.map(ruleIn) };
}

/** Run `npm run format` afterwards. */
export function write({ url, rules }: Table): void {
  writeFileSync(url, `${JSON.stringify(rules, undefined, 2)}\n`);
}

const SOURCE = new URL('src/', ROOT);

export const tables: readonly Table[] = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => FILE.test(path))
  .sort()
  .map((path) => read(new URL(path.replaceAll('\\', '/'), SOURCE)));

/** Every rule that is switched off, one at a time. */
export const mutants: readonly Mutant[] = tables.flatMap(({ rules }) => rules);
