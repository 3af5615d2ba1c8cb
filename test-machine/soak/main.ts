import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeHostProblem } from '../../src/node/system/index.js';
import { readOptions } from '../../test/support/command-line.js';
import { CPrograms, cProgramsProblem } from './c-programs.js';
import { lanePlans } from './lanes.js';
import { figuresOf, textOf } from './report.js';
import { clockProblem, Namespaces, NAMESPACE_CLIENT, NAMESPACE_SERVER, namespaceProblem } from './namespaces.js';
import { Soak } from './soak.js';
import { TimeOfDay } from './time-of-day.js';

const HELP = `Real programs over sockets and shared memory. They are killed, stopped, slowed, and deprived of addresses, disks and threads at
random moments. Everything that they send each other is checked: every byte, each message and atomic once, no memory touched
that was not open, no program left waiting for a peer that is gone, nothing left behind.

usage: npm run soak -- [--minutes N] [--seed S] [--c-programs] [--json] [--keep]

  --minutes N  for how long (default 60)
  --seed S     seed of all choices (default: from the clock)
  --c-programs run programs written in C as well, in pairs, under launchers
  --json       print the summary as JSON
  --keep       keep the logs also when nothing is wrong

Ctrl-C ends it with the figures so far. The exit status is 1 when something is wrong.`;

const PROGRESS_MS = 1000;
/** Where nobody looks on, a line now and then. */
const QUIET_PROGRESS_MS = 30_000;

function number(name: string, text: string, isRight: (value: number) => boolean): number {
  const value = Number(text);
  if (text.trim() !== '' && isRight(value)) return value;
  process.stderr.write(`--${name} does not take '${text}'\n`);
  process.exit(2);
}

const OPTIONS = {
  minutes: { type: 'string', default: '60' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  'c-programs': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  keep: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function showProgress(soak: Soak, seconds: number): () => void {
  const { isTTY } = process.stderr;
  const show = (): void => {
    const { tally, members } = soak;
    const faults = [...tally.faults.values()].reduce((sum, times) => sum + times, 0);
    const alive = members.filter(({ isReady }) => isReady).length;
    const rounds = members
      .filter(({ plan }) => plan.options.role !== 'server')
      .reduce((sum, { figures, child }) => sum + (child?.isGone === false ? figures.rounds : 0), tally.figures.rounds);
    const wrong = tally.violations.length === 0 ? '' : `, ${tally.violations.length} VIOLATIONS`;
    const line =
      `${soak.seconds.toFixed(0)} of ${seconds.toFixed(0)} s: ${rounds.toLocaleString('en')} rounds, ${faults} faults, ` +
      `${alive} of ${members.length} programs up${wrong}`;
    process.stderr.write(isTTY ? `\r\x1b[K${line}` : `${line}\n`);
  };
  const timer = setInterval(show, isTTY ? PROGRESS_MS : QUIET_PROGRESS_MS);
  return () => {
    clearInterval(timer);
    if (isTTY) process.stderr.write('\r\x1b[K');
  };
}

async function main(): Promise<void> {
  const options = readOptions(OPTIONS, HELP);
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  const seconds = 60 * number('minutes', options.minutes, (value) => value > 0);
  const seed = number('seed', options.seed, (value) => Number.isSafeInteger(value) && value >= 0);
  const native = nativeHostProblem();
  if (native !== undefined) {
    process.stdout.write(`soak: skipped, ${native}\n`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'verbena-soak-'));
  const noNamespaces = namespaceProblem();
  const noClock = clockProblem();
  const noCPrograms = options['c-programs'] ? cProgramsProblem() : 'not asked for by --c-programs';
  const timeOfDay = TimeOfDay.make(join(folder, 'time-of-day'));
  const skipped = [
    ...(noNamespaces === undefined ? [] : [`addresses that go and come, and full disks: ${noNamespaces}`]),
    ...(noClock === undefined ? [] : [`programs under another monotonic clock: ${noClock}`]),
    ...(noCPrograms === undefined ? [] : [`programs written in C: ${noCPrograms}`]),
    ...(timeOfDay !== undefined
      ? []
      : ['a time of day that is turned back: faketime is not installed (Debian: faketime)']),
  ];
  const namespaces = noNamespaces === undefined ? await Namespaces.make(join(folder, 'full')) : undefined;
  const plans = lanePlans({ server: NAMESPACE_SERVER, client: NAMESPACE_CLIENT }, join(folder, 'small.pcapng'));
  const lanes = plans.filter(({ name }) => name !== 'namespaces' || namespaces !== undefined);
  const soak = new Soak({ seed, lanes, namespaces, hasClock: noClock === undefined, timeOfDay, folder });
  const cPrograms = new CPrograms(seed, (text) => soak.violation('C programs', text));
  process.stderr.write(`soak: seed ${seed}, logs in ${folder}\n`);
  const interruption = new AbortController();
  process.on('SIGINT', () => interruption.abort());
  process.on('SIGTERM', () => interruption.abort());
  const stop = showProgress(soak, seconds);
  try {
    await Promise.all([
      soak.run(seconds, interruption.signal),
      ...(noCPrograms === undefined ? [cPrograms.run(seconds, interruption.signal)] : []),
    ]);
  } finally {
    stop();
    await namespaces?.close();
  }
  await soak.judgeLeftovers();
  const failed = soak.tally.violations.length > 0;
  const text = options.json
    ? JSON.stringify({ ...figuresOf(soak, seed, seconds, skipped), cPrograms: cPrograms.figures }, null, 2)
    : `${textOf(soak, seed, seconds, skipped)}\n${cPrograms.summary}`;
  process.stdout.write(`${text}\n`);
  if (failed) {
    process.stderr.write(
      `FAILED: what was done when is in ${folder}/log.jsonl, what programs said in the other files there.\n` +
        `The same plan again: npm run soak -- --seed ${seed} --minutes ${seconds / 60}\n`,
    );
    process.exitCode = 1;
    return;
  }
  if (options.keep) process.stderr.write(`logs: ${folder}\n`);
  else rmSync(folder, { recursive: true, force: true });
  if (interruption.signal.aborted) process.exitCode = 130;
}

await main();
