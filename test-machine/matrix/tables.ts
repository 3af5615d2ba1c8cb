import { execFileSync } from 'node:child_process';
import { type Meeting, nameOf } from './meeting.js';
import { type Played, Setting } from './play.js';

function cell(played: readonly Played[]): string {
  if (played.length === 0) return '';
  const failed = played.filter(({ ok }) => !ok).length;
  if (failed > 0) return `FAILED ${failed} of ${played.length}`;
  if (played[0].meeting.refuses !== undefined) return 'refuses';
  const seconds = played.reduce((sum, one) => sum + one.seconds, 0) / played.length;
  return `${seconds.toFixed(1)} s`;
}

/** A line for each meeting, as plain text. */
export function textTable(all: readonly Played[]): string {
  const settings = Object.values(Setting);
  const rows = [...new Set(all.map(({ meeting }) => meeting))].map((meeting) => [
    nameOf(meeting),
    ...settings.map((setting) => cell(all.filter((one) => one.meeting === meeting && one.setting === setting))),
  ]);
  const lines = [['program', ...settings], ...rows];
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const lineOf = (line: readonly string[]): string =>
    line.map((text, column) => text.padEnd(widths[column])).join('  ');
  return lines.map((line) => lineOf(line).trimEnd()).join('\n');
}

function versionOf(debianPackage: string): string {
  try {
    const version = execFileSync('dpkg-query', ['-W', '-f', '${Version}', debianPackage], { encoding: 'utf8' });
    return `${debianPackage} ${version}`;
  } catch {
    return debianPackage;
  }
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function variantsOf(meetings: readonly Meeting[]): string {
  return meetings.map(({ variant }) => (variant === '' ? 'plain' : code(variant))).join(', ');
}

function outcome(all: readonly Played[]): string {
  const failed = all.filter(({ ok }) => !ok);
  const good = `${all.length - failed.length} of ${all.length} right`;
  const wrong = failed.map(({ meeting, setting }) => `${code(nameOf(meeting))} failed with ${setting}`);
  return [good, ...new Set(wrong)].join('; ');
}

/** A line for each program, as Markdown: for documents. */
export function markdownTable(all: readonly Played[]): string {
  const programs = [...new Set(all.map(({ meeting }) => meeting.program))];
  const rows = programs.map((program) => {
    const own = all.filter(({ meeting }) => meeting.program === program);
    const meetings = [...new Set(own.map(({ meeting }) => meeting))];
    const served = meetings.filter(({ refuses }) => refuses === undefined);
    const settings = Object.values(Setting).filter((setting) => own.some((one) => one.setting === setting));
    const refused = meetings.filter(({ refuses }) => refuses !== undefined);
    return [
      code(program),
      meetings[0].packages.map(versionOf).join(', '),
      variantsOf(served),
      settings.join(', '),
      outcome(own.filter(({ meeting }) => meeting.refuses === undefined)),
      refused.length === 0 ? '' : variantsOf(refused),
    ];
  });
  const head = ['program', 'package', 'played with', 'settings', 'outcome', 'refused by the program itself'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
