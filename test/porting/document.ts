/** The page that `node scripts/page.mjs porting` prints: conventions, fragments of course notes, then the table. */
import { readFileSync } from 'node:fs';
import { areas, rsocketAreas } from './areas/index.js';
import type { Face } from './face.js';
import { type Fragment, fragmentSources } from './fragments/index.js';
import { ownNames } from './own.js';
import type { Answer, Area, Entry } from './table.js';

const ROOT = new URL('../../..', import.meta.url);

const PREFACE = new URL('test/porting/preface.md', ROOT);
const FRAGMENTS = new URL('test/porting/fragments/', ROOT);

/** Objects are called in examples what everybody calls them; others by their type, beginning small. */
const VARIABLES: ReadonlyMap<string, string> = new Map([
  ['CompChannel', 'channel'],
  ['SendBuilder', 'qp'],
  ['CmId', 'id'],
  ['EventChannel', 'channel'],
  ['CmEvent', 'event'],
]);

const variable = (type: string): string => VARIABLES.get(type) ?? `${type[0].toLowerCase()}${type.slice(1)}`;

/** A call as one writes it, `pd.regMr(memory, access?)`; other names as they are. */
function written(path: string, face: Face): string {
  const parameters = face.find(path)?.parameters;
  if (parameters === undefined) return `\`${path}\``;
  const [name, ...rest] = path.split('.');
  return rest.length === 0 ? `\`${name}${parameters}\`` : `\`${variable(name)}.${rest.join('.')}${parameters}\``;
}

function answerText(answer: Answer, face: Face): string {
  switch (answer.kind) {
    case 'here': {
      const names = answer.names.map((name) => written(name, face)).join(', ');
      return answer.note === undefined ? names : `${names}: ${answer.note}`;
    }
    case 'refused':
      return `EOPNOTSUPP from ${written(answer.by, face)}`;
    case 'absent':
      return `– ${answer.why}`;
  }
}

const LABELS: Partial<Record<Entry['kind'], string>> = { struct: 'struct ', enum: 'enum ' };

function name({ kind, c }: Entry): string {
  const text = `\`${c}\``;
  return kind === 'struct' || kind === 'enum'
    ? `**${c.startsWith('enum of') ? '' : (LABELS[kind] ?? '')}${text}**`
    : text;
}

/** After a name of the same struct, its part alone: `.length`. */
function shortened({ kind, c }: Entry): string {
  return `\`${kind === 'field' ? c.slice(c.indexOf('.')) : c}\``;
}

/** What is a row of its own, whatever stands before it. */
const WHOLES: readonly Entry['kind'][] = ['function', 'struct', 'enum'];

/** Fields, constants and macros that are not here share a row with those before them, or with what they are of. */
function rowsOf(entries: readonly Entry[], face: Face): readonly string[] {
  const rows: { names: string[]; text: string }[] = [];
  for (const entry of entries) {
    const text = answerText(entry.answer, face);
    const last = rows.at(-1);
    if (last !== undefined && !WHOLES.includes(entry.kind) && entry.answer.kind !== 'here' && last.text === text)
      last.names.push(shortened(entry));
    else rows.push({ names: [name(entry)], text });
  }
  return rows.map(({ names, text }) => `| ${names.join(', ')} | ${text.replaceAll('|', '\\|')} |`);
}

function table({ title, entries }: Area, face: Face): string {
  return [`### ${title}\n`, '| C | here |', '|---|---|', ...rowsOf(entries, face)].join('\n');
}

/** A declaration of a fragment file, as it stands there. Prettier ends each with a brace in the first column. */
function declaration(file: string, wanted: string): string {
  const source = readFileSync(new URL(file, FRAGMENTS), 'utf8');
  const pattern = new RegExp(`^export ((?:async )?function|interface) ${wanted}\\b[\\s\\S]*?^\\}$`, 'm');
  const found = pattern.exec(source);
  if (found === null) throw new Error(`${file} has no ${wanted}`);
  return found[0].replace(/^export /, '');
}

function fragment({ place, c, file, ours, note }: Fragment): string {
  const parts = [`#### ${place}`, `C: ${c.map((text) => `\`${text}\``).join(' → ')}`];
  if (ours.length > 0) parts.push(`\`\`\`ts\n${ours.map((wanted) => declaration(file, wanted)).join('\n\n')}\n\`\`\``);
  if (note !== undefined) parts.push(note);
  return parts.join('\n\n');
}

function fragments(): string {
  const intro =
    'Each is in `test/porting/fragments`: the compiler checks it, and a test runs it.\nNames are imported from `verbena`; ' +
    'of the C side the names are listed, in order.';
  const sections = fragmentSources.map(({ title, fragments: list }) =>
    [`### ${title}`, ...list.map(fragment)].join('\n\n'),
  );
  return ['## Fragments of the course notes, and their counterparts', intro, ...sections].join('\n\n');
}

function own(face: Face): string {
  const rows = ownNames.map(
    ({ title, names }) => `| ${title} | ${names.map((path) => written(path, face)).join(', ')} |`,
  );
  return ['## Names that C does not have\n', '| purpose | names |', '|---|---|', ...rows].join('\n');
}

/** The whole document. @param rsocketFace that of `verbena/rsocket` */
export function portingDocument(face: Face, rsocketFace: Face): string {
  const sockets = rsocketAreas.map((area) => table(area, rsocketFace));
  const tables = ['## The table', ...areas.map((area) => table(area, face)), ...sockets];
  const parts = [readFileSync(PREFACE, 'utf8').trim(), fragments(), ...tables, own(face)];
  return `${parts.join('\n\n')}\n`;
}
