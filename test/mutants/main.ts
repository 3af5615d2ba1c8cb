import { availableParallelism } from 'node:os';
import { clearLine, readOptions } from '../support/command-line.js';
import { forAll } from './for-all.js';
import { games } from './games.js';
import { hunt, perform, range, type Found, type Verdict } from './hunt.js';
import { type GameName, type Mutant, sources } from './mutant.js';
import { locate } from './places/locate.js';
import type { Task } from './player.js';
import { mutants, tables } from './table.js';
import { unchanged } from './transpile.js';
import { updateTables } from './update.js';

const HELP = `Switches off one rule of the NIC or of its connection manager at a time, and plays the seeded games until one of them
reports something wrong: so it shows that they would see it. What it is that stands in the way of a wrong packet, call or
timer, and where each rule comes from, is in the tables of the modules (src/*/*/test/mutants.json).

usage: npm run mutants -- [--only NAME]... [--jobs N] [--json] [--list] [--update]

  --only NAME  only this mutant, or those whose name begins so with NAME*; may be repeated
  --jobs N     how many at a time (default: as many as there are processors)
  --json       prints the table as JSON
  --list       prints the rules and what would be replaced, and plays nothing
  --update     writes into the tables where rules are that have moved, and the new names in their code; plays nothing

First the games are played on the NIC as it is, and have to pass. Then each mutant has a process of its own, and as many seeds
as the game allows. Each seed that found one is then played on the NIC as it is, and has to pass. The exit status is 1 when a
mutant survives or is none, or when a game fails without one. Ctrl-C ends it with the table so far.`;

/** Runs of each game on the NIC as it is, before anything else. */
const CONTROL_RUNS: Readonly<Record<GameName, number>> = {
  traffic: 60,
  'device-memory': 40,
  walk: 5,
  cm: 60,
  rxe: 60,
  'stand-in': 60,
  messages: 30,
  'kv-sim': 30,
  rsocket: 40,
  'cm-faults': 6,
  'cm-floods': 3,
  fuzz: 4,
  'fuzz-run': 3,
  tests: 100,
  kv: 100,
  'ucp-sim': 30,
  ucp: 100,
  'xio-sim': 60,
  xio: 100,
};
const REPORT_LENGTH = 100;

interface Result {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

const OPTIONS = {
  only: { type: 'string', multiple: true },
  jobs: { type: 'string', default: String(availableParallelism()) },
  json: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  update: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function chosen(only: readonly string[] | undefined): readonly Mutant[] {
  if (only === undefined) return mutants;
  const fits = (mutant: Mutant, word: string): boolean =>
    word.endsWith('*') ? mutant.name.startsWith(word.slice(0, -1)) : mutant.name === word;
  for (const word of only)
    if (!mutants.some((mutant) => fits(mutant, word))) fail(`there is no mutant '${word}'; --list shows them`);
  return mutants.filter((mutant) => only.some((word) => fits(mutant, word)));
}

function printList(list: readonly Mutant[]): void {
  for (const mutant of list) {
    const { name, rule, source, in: declaration, from, to, games: names } = mutant;
    process.stdout.write(
      `${name}: ${rule} (${source})\n  ${declaration}, ${placeOf(mutant)}, found by ${names.join(', ')}\n` +
        `${from.replace(/^/gm, '  - ')}\n${to.replace(/^/gm, '  + ')}\n\n`,
    );
  }
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${clearLine()}${text}`);
}

function firstLine(text: string): string {
  const [line] = text.split('\n');
  return line.length > REPORT_LENGTH ? `${line.slice(0, REPORT_LENGTH)}…` : line;
}

function describe({ mutant: { name }, verdict }: Result): string {
  const what = `${name.padEnd(28)} `;
  const time = `${verdict.seconds.toFixed(1)} s`;
  switch (verdict.kind) {
    case 'found': {
      const where = `${verdict.game} ${verdict.seed}`;
      const effort = `${verdict.runs} ${verdict.runs === 1 ? 'run' : 'runs'}, ${time}`;
      return `${what}${where.padEnd(14)} ${effort.padEnd(18)} ${firstLine(verdict.report)}`;
    }
    case 'passed':
      return `${what}SURVIVED ${verdict.runs} runs in ${time}`;
    case 'broken':
      return `${what}IS NO MUTANT: ${verdict.why}`;
  }
}

/** Plays what has to pass. @returns what does not */
async function control(tasks: readonly Task[], jobs: number, signal: AbortSignal): Promise<string[]> {
  const verdicts = await forAll(tasks, jobs, (task) => perform(task, signal));
  return verdicts.flatMap((verdict) => {
    if (verdict.kind === 'found')
      return [`${games[verdict.game].replay(verdict.seed)} fails without a mutant: ${verdict.report}`];
    return verdict.kind === 'broken' ? [`a control run: ${verdict.why}`] : [];
  });
}

function firstRuns(list: readonly Mutant[]): Task[] {
  const used = [...new Set(list.flatMap((mutant) => mutant.games))];
  return used.map((game) => ({ substitute: undefined, attempts: [{ game, seeds: range(CONTROL_RUNS[game]) }] }));
}

/** All that found something, with the file that was changed compiled in the same way, and not changed. */
function counterparts(results: readonly Result[]): Task[] {
  const byFile = new Map<string, Found[]>();
  for (const { mutant, verdict } of results) {
    if (verdict.kind !== 'found') continue;
    const { file } = locate(mutant, sources());
    byFile.set(file, [...(byFile.get(file) ?? []), verdict]);
  }
  return [...byFile].map(([file, found]) => ({
    substitute: unchanged(file),
    attempts: [...new Set(found.map(({ game }) => game))].map((game) => ({
      game,
      seeds: [...new Set(found.filter((one) => one.game === game).map(({ seed }) => seed))],
    })),
  }));
}

/** Where a mutant is, as `file:line`, or why it is nowhere. */
function placeOf(mutant: Mutant): string {
  try {
    const { file, line } = locate(mutant, sources());
    return `${file}:${String(line)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function summarise(results: readonly Result[], wanted: number, problems: readonly string[], seconds: number): string {
  const of = (kind: Verdict['kind']) => results.filter(({ verdict }) => verdict.kind === kind);
  const names = (kind: Verdict['kind']) =>
    of(kind)
      .map(({ mutant }) => mutant.name)
      .join(', ');
  const lines = [
    `${of('found').length} of ${wanted} mutants found in ${seconds.toFixed(0)} s`,
    ...(of('passed').length === 0 ? [] : [`survived: ${names('passed')}`]),
    ...(of('broken').length === 0 ? [] : [`no mutants: ${names('broken')}`]),
    ...problems,
  ];
  return `${lines.join('\n')}\n`;
}

async function main(): Promise<void> {
  const options = readOptions(OPTIONS, HELP);
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  const list = chosen(options.only);
  if (options.list) {
    printList(list);
    return;
  }
  if (options.update) {
    const { written, problems } = updateTables(tables, list, sources());
    process.stdout.write([...written, ...problems].map((line) => `${line}\n`).join(''));
    if (written.length > 0)
      process.stdout.write("Run 'npm run format' and look at the changes before you commit them.\n");
    if (problems.length > 0) process.exitCode = 1;
    return;
  }
  const jobs = Number(options.jobs);
  if (!Number.isSafeInteger(jobs) || jobs < 1) fail(`--jobs takes a whole number from 1 on, not '${options.jobs}'`);
  const startMs = performance.now();
  const interruption = new AbortController();
  const { signal } = interruption;
  process.once('SIGINT', () => interruption.abort());
  const results: Result[] = [];
  const problems: string[] = [];
  try {
    progress('the games are played on the NIC as it is');
    problems.push(...(await control(firstRuns(list), jobs, signal)));
    if (problems.length === 0) {
      await forAll(list, jobs, async (mutant) => {
        const result = { mutant, verdict: await hunt(mutant, signal) };
        results.push(result);
        if (!options.json) process.stdout.write(`${clearLine()}${describe(result)}\n`);
        progress(`${results.length} of ${list.length} mutants`);
      });
      progress('what found them is played on the NIC as it is');
      problems.push(...(await control(counterparts(results), jobs, signal)));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  const seconds = (performance.now() - startMs) / 1000;
  process.stderr.write(clearLine());
  if (options.json) {
    const rows = results.map(({ mutant, verdict }) => {
      const { name, rule, source, in: declaration } = mutant;
      return { name, rule, source, in: declaration, place: placeOf(mutant), ...verdict };
    });
    process.stdout.write(`${JSON.stringify({ wanted: list.length, seconds, problems, mutants: rows }, null, 2)}\n`);
  } else process.stdout.write(summarise(results, list.length, problems, seconds));
  if (signal.aborted) process.exitCode = 130;
  else if (problems.length > 0 || results.some(({ verdict }) => verdict.kind !== 'found')) process.exitCode = 1;
}

await main();
