import { availableParallelism } from 'node:os';
import { Choices } from '../../fuzz/random.js';
import { clearLine, readOptions, wholeNumber } from '../../support/command-line.js';
import { forAll } from '../for-all.js';
import { allSites, type Site } from './sites.js';
import { tryOut, type Verdict } from './trial.js';
import { openWorkshop } from './workshop.js';

const HELP = `Changes places of the source that chance picks, one at a time, and runs the tests until one of them fails: a condition is
turned round, a comparison or a sum replaced by its neighbour, a number made greater by one, a call or an assignment left out.
Whatever nobody notices stands on the standard output, to be judged by reading: it does the same as before, or a test is wanted.

usage: npm run mutants:chance -- [--sites N] [--seed S] [--jobs N] [--only TEXT] [--list] [--json]

  --sites N    how many places (default 80)
  --seed S     picks the same places again, as long as the source is the same
  --jobs N     how many at a time (default: as many as there are processors)
  --only TEXT  places in files whose path holds TEXT
  --own        only the tests of the file's own room, and the games: a first look
  --list       prints the places, and runs nothing
  --json       prints the table as JSON

Places lie below src, but for src/cli, evenly by their number. First the folder of tests of the file's own room is run, then all
others; when all pass, the games of \`npm run mutants\` are played. A survivor so takes minutes. The exit status is 1 when
something survives. Ctrl-C ends it with the table so far.`;

const OPTIONS = {
  sites: { type: 'string', default: '80' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  jobs: { type: 'string', default: String(availableParallelism()) },
  only: { type: 'string', default: '' },
  own: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

interface Result {
  readonly site: Site;
  readonly verdict: Verdict;
  readonly seconds: number;
}

const firstLine = (text: string): string => text.split('\n')[0].slice(0, 100);

function describe({ file, line, from, to }: Site): string {
  return `${file}:${line}  ${firstLine(from)}  ->  ${firstLine(to)}`;
}

/** So many different places, each as likely as the other. */
function choose(sites: Site[], count: number, choices: Choices): Site[] {
  const chosen: Site[] = [];
  while (chosen.length < count && sites.length > 0) chosen.push(...sites.splice(choices.below(sites.length), 1));
  return chosen;
}

function words({ site, verdict, seconds }: Result): string {
  const time = `${seconds.toFixed(0)} s`;
  if (verdict.kind === 'survived') return `SURVIVED  ${describe(site)}  (${time})`;
  return `found     ${describe(site)}  (${time})\n            ${firstLine(verdict.by)}`;
}

interface Manner {
  readonly jobs: number;
  readonly own: boolean;
  readonly json: boolean;
}

async function trials(sites: readonly Site[], { jobs, own, json }: Manner, signal: AbortSignal): Promise<Result[]> {
  const workshops = Array.from({ length: Math.min(jobs, sites.length) }, openWorkshop);
  const idle = [...workshops];
  const results: Result[] = [];
  try {
    await forAll(sites, workshops.length, async (site) => {
      const workshop = idle.pop();
      if (workshop === undefined) throw new Error('there are as many workshops as jobs');
      const startMs = performance.now();
      await workshop.spoil(site);
      const verdict = await tryOut(workshop, site, own, signal);
      workshop.mend();
      idle.push(workshop);
      const result = { site, verdict, seconds: (performance.now() - startMs) / 1000 };
      results.push(result);
      if (!json) process.stdout.write(`${clearLine()}${words(result)}\n`);
      if (process.stderr.isTTY) process.stderr.write(`${clearLine()}${results.length} of ${sites.length} places`);
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    for (const workshop of workshops) workshop[Symbol.dispose]();
  }
  return results;
}

async function main(): Promise<void> {
  const options = readOptions(OPTIONS, HELP);
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  const count = wholeNumber('sites', options.sites, 1);
  const seed = wholeNumber('seed', options.seed);
  const jobs = wholeNumber('jobs', options.jobs, 1);
  const every = allSites().filter(({ file }) => file.includes(options.only));
  const all = every.length;
  const sites = choose(every, count, new Choices(seed));
  if (options.list) {
    process.stdout.write(sites.map((site) => `${describe(site)}\n`).join(''));
    return;
  }
  process.stderr.write(`${sites.length} of ${all} places, --seed ${seed}\n`);
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  const results = await trials(sites, { jobs, own: options.own, json: options.json }, interruption.signal);
  process.stderr.write(clearLine());
  const survivors = results.filter(({ verdict }) => verdict.kind === 'survived');
  if (options.json) process.stdout.write(`${JSON.stringify({ seed, places: all, results }, null, 2)}\n`);
  else {
    const list = survivors.map(({ site }) => `  ${describe(site)}\n`).join('');
    process.stdout.write(`${results.length - survivors.length} of ${results.length} found\n${list}`);
  }
  if (interruption.signal.aborted) process.exitCode = 130;
  else if (survivors.length > 0) process.exitCode = 1;
}

await main();
