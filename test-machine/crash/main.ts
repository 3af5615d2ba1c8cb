import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeHostProblem } from '../../src/node/system/index.js';
import { clearLine, readOptions, wholeNumber } from '../../test/support/command-line.js';
import { Crashes } from './crashes.js';

const HELP = `Kills a key-value server that keeps its store on disk, and its clients, by SIGKILL at random moments, again and again. Clients say what they want to
change before they ask for it, and what was answered as soon as it is; whenever the server is back, every key is compared: what was acknowledged must be
there, and nothing that nobody asked for.

usage: npm run crash -- [--minutes N] [--seed S] [--keep]

  --minutes N  for how long (default 10)
  --seed S     seed of what is killed when (default: from the clock)
  --keep       keep the folder also when nothing is wrong

A killed program loses nothing that it has written, whatever the policy is by which it asks the disk: what a machine loses that fails is for the
simulated disk of src/protocols/kv/test/persistence. The exit status is 1 when something is wrong; Ctrl-C ends it with the figures so far.`;

const LONGEST_MS = 1500;
const OPTIONS = {
  minutes: { type: 'string', default: '10' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  keep: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function summary({ figures, ledger, violations }: Crashes): string {
  const { rounds, serversKilled, serversKilledEarly, clientsKilled, tornBytes } = figures;
  return [
    `${rounds} rounds: ${serversKilled} servers killed while they served, ${serversKilledEarly} while they began; ${clientsKilled} clients killed`,
    `${ledger.acknowledged} changes acknowledged; of those under way when a program was killed ${ledger.done} were done, ${ledger.undone} were not`,
    `${ledger.compared} values compared; ${tornBytes} bytes of records cut off that were being written`,
    ...(violations.length === 0
      ? ['nothing acknowledged was lost, and nothing was there that nobody asked for']
      : violations),
  ].join('\n');
}

async function main(): Promise<void> {
  const options = readOptions(OPTIONS, HELP);
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  const minutes = Number(options.minutes);
  if (!(minutes > 0)) {
    process.stderr.write(`--minutes does not take '${options.minutes}'\n`);
    process.exit(2);
  }
  const seed = wholeNumber('seed', options.seed);
  const problem = nativeHostProblem();
  if (problem !== undefined) {
    process.stdout.write(`crash: skipped, ${problem}\n`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'verbena-crash-'));
  const crashes = new Crashes(seed, join(folder, 'data'), LONGEST_MS);
  process.stderr.write(`crash: seed ${seed}, folder ${folder}\n`);
  let isInterrupted = false;
  process.once('SIGINT', () => (isInterrupted = true));
  const end = performance.now() + minutes * 60_000;
  const goesOn = (): boolean => performance.now() < end && !isInterrupted && crashes.violations.length === 0;
  while (goesOn()) {
    await crashes.round();
    if (process.stderr.isTTY) process.stderr.write(`${clearLine()}${summary(crashes).split('\n')[0]}`);
  }
  if (crashes.violations.length === 0) await crashes.end();
  process.stderr.write(clearLine());
  process.stdout.write(`seed ${seed}\n${summary(crashes)}\n`);
  const failed = crashes.violations.length > 0;
  if (failed || options.keep) process.stderr.write(`what was kept is in ${folder}\n`);
  else rmSync(folder, { recursive: true });
  if (failed) process.exitCode = 1;
}

await main();
