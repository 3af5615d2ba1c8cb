import { rows } from './cm/conversations.js';
import { explore } from './cm/explore.js';
import { FAULTS } from './cm/faults.js';
import { type Figures, type Game, NOTHING_YET, sumOf } from './game.js';
import { cmGame, trafficGame, walkGame } from './games.js';
import { clearLine, readOptions, wholeNumber } from '../support/command-line.js';

const HELP = `Plays seeded runs of random traffic of RC, UC and UD between simulated hosts, over a network that loses, doubles,
reorders and damages packets, and checks every byte and every completion against a model.

usage: npm run sim -- [--cm | --walk] [--seeds N] [--start S] [--json] [--trace]
       npm run sim -- --cm-faults N

  --cm         instead, programs connect and part by rdma_cm, on hosts that come and go; every event of every
               identifier is checked against a model
  --walk       instead, all verbs are called at random, rightly and wrongly, on hosts that stand still, crash and come
               back; every byte of their memory, every completion and every refusal is checked against a model
  --steps LIST with --walk, for one run: take these steps of it only, as a failure names them
  --seeds N    how many runs (default 1000)
  --start S    seed of the first one; run i has seed S + i (default 1)
  --json       print the summary as JSON
  --trace      print every packet as it is sent, with --cm every event and call, too; for one run
  --cm-faults N
               instead, every conversation of a client and a server, with every choice of up to N of the connection
               manager's messages lost, doubled or late: 2 000 runs for 1, 200 000 for 2

Ctrl-C ends it with the summary so far. The exit status is 1 when a run failed.`;

/** After so many failures the rest would hardly tell more. */
const MAX_FAILURES = 20;
/** How long the event loop is kept from hearing a Ctrl-C. */
const SLICE_MS = 50;
const PROGRESS_MS = 250;

interface Failure {
  readonly seed: number;
  readonly message: string;
}

/** Everything that the runs so far came to. */
class Tally {
  runs = 0;
  total: Figures = NOTHING_YET;
  readonly failures: Failure[] = [];
  readonly #startMs = performance.now();

  get seconds(): number {
    return (performance.now() - this.#startMs) / 1000;
  }

  get runsPerSecond(): number {
    return this.runs / this.seconds;
  }
}

const OPTIONS = {
  seeds: { type: 'string', default: '1000' },
  start: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  trace: { type: 'boolean', default: false },
  cm: { type: 'boolean', default: false },
  walk: { type: 'boolean', default: false },
  steps: { type: 'string' },
  'cm-faults': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function report(game: Game, { seed, message }: Failure): void {
  process.stderr.write(
    `${clearLine()}FAILED ${game.describe(seed)}\n${message}\n` +
      `  replay: ${game.replay} --seeds 1 --start ${seed} --trace\n\n`,
  );
}

function play(game: Game, seed: number, tally: Tally, trace: boolean): void {
  try {
    const line = trace ? (text: string) => void process.stdout.write(`${text}\n`) : undefined;
    tally.total = sumOf(tally.total, game.play(seed, line));
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const failure = { seed, message };
    tally.failures.push(failure);
    report(game, failure);
  }
  tally.runs += 1;
}

function printSummary(game: Game, tally: Tally, wanted: number, json: boolean): void {
  const { runs, total, failures, seconds, runsPerSecond } = tally;
  const virtualSeconds = total.virtualUs / 1e6;
  if (json) {
    const figures = { runs, wanted, seconds, runsPerSecond, ...total.counts, virtualSeconds };
    process.stdout.write(`${JSON.stringify({ ...figures, network: total.network, failures }, null, 2)}\n`);
    return;
  }
  process.stderr.write(clearLine());
  process.stdout.write(
    `${runs.toLocaleString('en')} of ${wanted.toLocaleString('en')} runs in ${seconds.toFixed(1)} s ` +
      `(${runsPerSecond.toFixed(0)} runs/s${stepRate(total, seconds)}), ${timeText(virtualSeconds)} of virtual time\n${game.summarise(total)}\n` +
      (failures.length === 0
        ? 'no failure\n'
        : `${failures.length} failed: seeds ${failures.map(({ seed }) => seed).join(', ')}\n`),
  );
}

/** How many steps of walks a second had, where walks were played. */
function stepRate({ counts }: Figures, seconds: number): string {
  return 'steps' in counts ? `, ${((counts['steps'] ?? 0) / seconds).toFixed(0)} steps/s` : '';
}

function timeText(seconds: number): string {
  return seconds < 3600 ? `${seconds.toFixed(1)} s` : `${(seconds / 3600).toFixed(1)} h`;
}

/** Every conversation with every choice of so many faults. */
function playFaults(faults: number): void {
  let runs = 0;
  let virtualUs = 0;
  for (const row of rows) {
    if (process.stderr.isTTY) process.stderr.write(`${clearLine()}${row.name}, over ${row.transport}`);
    const figures = explore(row, { faults, kinds: FAULTS, transmissions: Infinity });
    runs += figures.runs;
    virtualUs += figures.virtualUs;
  }
  process.stderr.write(clearLine());
  process.stdout.write(`${runs.toLocaleString('en')} runs, ${timeText(virtualUs / 1e6)} of virtual time, no failure\n`);
}

async function main(): Promise<void> {
  const options = readOptions(OPTIONS, HELP);
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  const faults = options['cm-faults'];
  if (faults !== undefined) {
    playFaults(wholeNumber('cm-faults', faults, 0));
    return;
  }
  const only = options.steps?.split(',').map((id) => wholeNumber('steps', id, 1));
  const game = options.walk ? walkGame(only) : options.cm ? cmGame : trafficGame;
  const wanted = wholeNumber('seeds', options.seeds, 1);
  const start = wholeNumber('start', options.start, 0);
  const tally = new Tally();
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  let shownMs = 0;
  while (tally.runs < wanted && !interruption.signal.aborted && tally.failures.length < MAX_FAILURES) {
    const sliceEndMs = performance.now() + SLICE_MS;
    while (tally.runs < wanted && tally.failures.length < MAX_FAILURES && performance.now() < sliceEndMs)
      play(game, start + tally.runs, tally, options.trace);
    if (process.stderr.isTTY && performance.now() - shownMs > PROGRESS_MS) {
      shownMs = performance.now();
      const failed = tally.failures.length === 0 ? '' : `, ${tally.failures.length} failed`;
      process.stderr.write(
        `${clearLine()}${tally.runs} of ${wanted} runs, ${tally.runsPerSecond.toFixed(0)} runs/s${failed}`,
      );
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  printSummary(game, tally, wanted, options.json);
  if (tally.failures.length > 0) process.exitCode = 1;
  else if (interruption.signal.aborted) process.exitCode = 130;
}

await main();
