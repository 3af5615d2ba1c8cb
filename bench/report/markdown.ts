/** The bench's tables as Markdown, for a page of documentation. */
import type { Standing } from './aims.js';
import type { Result } from './result.js';
import { boundText, digits, spreadText } from './table.js';

type Column = readonly [title: string, cell: (result: Result) => string | undefined];

const COLUMNS: readonly Column[] = [
  ['what', ({ what }) => what],
  ['median (spread)', (result) => `${digits(result.median)} ${result.unit} (${spreadText(result)})`],
  ['99 %', ({ percentiles }) => percentiles && digits(percentiles.p99)],
  ['99.9 %', ({ percentiles }) => percentiles && digits(percentiles.p999)],
  ['processor time, ns a byte', ({ cpuNsPerByte }) => (cpuNsPerByte === undefined ? undefined : digits(cpuNsPerByte))],
];

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** A table for each section, with the columns of which something is known, and one for the aims. */
export function markdownOf(machine: string, results: readonly Result[], standings: readonly Standing[]): string {
  const sections = [...new Set(results.map(({ section }) => section))].map((section) => {
    const own = results.filter((result) => result.section === section);
    const columns = COLUMNS.filter(([, cell]) => own.some((result) => cell(result) !== undefined));
    const rows = own.map((result) => columns.map(([, cell]) => cell(result) ?? ''));
    return `### ${section}\n\n${table(
      columns.map(([title]) => title),
      rows,
    )}`;
  });
  const aims = standings.map(({ aim, reached, verdict }) => [
    aim.what,
    boundText(aim),
    reached === undefined ? '' : `${digits(reached)} ${aim.unit}`,
    verdict,
  ]);
  return `${[machine, ...sections, `### Aims\n\n${table(['what', 'aim', 'reached', 'verdict'], aims)}`].join('\n\n')}\n`;
}
