import { clearLine, readOptions, wholeNumber } from '../../support/command-line.js';
import { nativeHostProblem } from '../../../src/machine/system/index.js';
import { nameOf, WcStatus } from '../../../src/device/ibta/index.js';
import { CommandFuzz } from './fuzz.js';

const HELP = `Has programs that lie give commands to the kernel's side of verbena run: by ioctl and by rdma_cm, right and wrong ones, with
lying sizes, addresses, handles and descriptors, while their queues hold any entries and indices. Fails when anything throws, when
a call is not answered, when memory is touched that nobody registered, when a program beside them that means well notices, or
when anything is left behind.

usage: npm run fuzz:run -- [--commands N] [--seed S] [--json]

  --commands N  how many commands (default 1000000; 1e6 is understood)
  --seed S      where all choices come from (default 1)
  --json        print the summary as JSON

Ctrl-C ends it with the summary so far. The exit status is 1 when something is wrong.`;

const SLICE = 2000;
const PROGRESS_MS = 250;

const OPTIONS = {
  commands: { type: 'string', default: '1000000' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

async function main(): Promise<void> {
  const options = readOptions(OPTIONS, HELP);
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  const problem = nativeHostProblem();
  if (problem !== undefined) {
    process.stdout.write(`fuzz:run: skipped, ${problem}\n`);
    return;
  }
  const wanted = wholeNumber('commands', options.commands);
  const seed = wholeNumber('seed', options.seed);
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  // Looked at before the descriptors are counted: the first look opens one.
  const shows = process.stderr.isTTY;
  const fuzz = new CommandFuzz(seed);
  const { figures } = fuzz;
  const startMs = performance.now();
  let shownMs = startMs;
  let failure: Error | undefined;
  try {
    while (figures.commands < wanted && !interruption.signal.aborted) {
      fuzz.run(Math.min(SLICE, wanted - figures.commands));
      if (shows && performance.now() - shownMs > PROGRESS_MS) {
        shownMs = performance.now();
        process.stderr.write(`${clearLine()}${figures.commands.toLocaleString('en')} commands`);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    fuzz.end();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    failure = error;
  }
  process.stderr.write(clearLine());
  const seconds = (performance.now() - startMs) / 1000;
  const statuses = [...fuzz.statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, times]) => `${nameOf(WcStatus, status)} ${times}`)
    .join(', ');
  const text = options.json
    ? JSON.stringify({ seed, wanted, seconds, ...figures, ...fuzz.calls, statuses }, null, 2)
    : `${figures.commands.toLocaleString('en')} of ${wanted.toLocaleString('en')} commands of seed ${seed} in ${seconds.toFixed(1)} s\n` +
      `programs ${figures.lives}, calls answered ${fuzz.calls.answered}, refused ${fuzz.calls.refused}; completions ${statuses}`;
  process.stdout.write(`${text}\n`);
  if (failure !== undefined) {
    process.stderr.write(
      `FAILED: ${failure.stack ?? failure.message}\nreplay: npm run fuzz:run -- --seed ${seed} --commands ${figures.commands}\n`,
    );
    process.exitCode = 1;
  } else if (interruption.signal.aborted) {
    process.exitCode = 130;
  }
}

await main();
