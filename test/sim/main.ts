import { availableParallelism } from 'node:os';
import { rows } from '../../src/api/rdmacm/test/sim/conversations.js';
import { explore } from '../../src/api/rdmacm/test/sim/explore.js';
import { FAULTS } from '../../src/api/rdmacm/test/sim/faults.js';
import { type Figures, type Game, NOTHING_YET, sumOf } from './game.js';
import { type GameName, gameOf } from './games.js';
import { type Digest, type Failure, type Played, playSeed, sumOfDigests } from './play.js';
import { playOnThreads } from './players.js';
import { clearLine, readOptions, wholeNumber } from '../support/command-line.js';

const HELP = `Plays seeded runs of random traffic of RC, UC and UD between simulated hosts, over a network that loses, doubles,
reorders and damages packets, and checks every byte and every completion against a model.

usage: npm run sim -- [--cm | --device-memory | --walk | --rxe | --stand-in | --messages | --kv | --ucp | --rsocket | --rsocket-lies | --xio] [--seeds N] [--start S] [--jobs N] [--json] [--trace] [--digest]
       npm run sim -- --cm-faults N

  --cm         instead, programs connect and part by rdma_cm, on hosts that come and go; every event of every
               identifier is checked against a model
  --device-memory
               instead, memory is that of a device whose copies end late and out of order, and which fails; every byte, and
               which request ends for a failure, is checked against a model
  --walk       instead, all verbs are called at random, rightly and wrongly, on hosts that stand still, crash and come
               back; every byte of their memory, every completion and every refusal is checked against a model
  --rxe        instead, a requester meets a responder that answers as Linux's Soft-RoCE does, which is stricter than ours
  --stand-in   instead, programs stand still for up to 20 s and their stand-ins answer: every request must end well
  --messages   instead, programs on the engine talk to a server: every message, every promise, every byte of memory and every
               lease is checked against a model
  --kv         instead, programs use a key-value store: for each key there must be an order of all that was done to it that explains
               what they were told
  --ucp        instead, workers of UCP send by tags, active messages and streams, use each other's memory, and give up some of it:
               every message, every promise and every buffer is checked against a model
  --rsocket    instead, owners of streams of rsockets write, read, end and close in every order; every byte, every event and all
               that a stream consists of is checked against a model
  --rsocket-lies
               instead, a peer made of raw verbs lies to a stream: that one ends, and nothing else
  --xio        instead, the machines of xio's sessions talk over links that are cut at any moment, to servers that die, return and hand over:
               each request is executed at most once, and each is answered or fails
  --steps LIST with --walk, for one run: take these steps of it only, as a failure names them
  --seeds N    how many runs (default 1000)
  --start S    seed of the first one; run i has seed S + i (default 1)
  --jobs N     how many at a time (default: as many as there are processors)
  --json       print the summary as JSON
  --digest     print a SHA-256 of all traces as well: equal before and after a change that leaves the packets alone
  --trace      print every packet as it is sent, with --cm every event and call, too; for one run
  --cm-faults N
               instead, every conversation of a client and a server, with every choice of up to N of the connection
               manager's messages lost, doubled or late: 2 000 runs for 1, 200 000 for 2

Ctrl-C ends it with the summary so far. The exit status is 1 when a run failed.`;

/** After so many failures the rest would hardly tell more. */
const MAX_FAILURES = 20;
const PROGRESS_MS = 250;

/** Everything that the runs so far came to. */
class Tally {
  runs = 0;
  total: Figures = NOTHING_YET;
  readonly failures: Failure[] = [];
  digest: Digest | undefined;
  #shownMs = 0;
  readonly #startMs = performance.now();

  get seconds(): number {
    return (performance.now() - this.#startMs) / 1000;
  }

  get runsPerSecond(): number {
    return this.runs / this.seconds;
  }

  add({ runs, total, failures, digest }: Played): void {
    this.runs += runs;
    if (digest !== undefined) this.digest = sumOfDigests(this.digest, digest);
    this.total = sumOf(this.total, total);
    this.failures.push(...failures);
    this.failures.sort((a, b) => a.seed - b.seed);
  }

  /** Shows how far it is, where somebody looks on. */
  show(wanted: number): void {
    if (!process.stderr.isTTY || performance.now() - this.#shownMs < PROGRESS_MS) return;
    this.#shownMs = performance.now();
    const failed = this.failures.length === 0 ? '' : `, ${this.failures.length} failed`;
    process.stderr.write(
      `${clearLine()}${this.runs} of ${wanted} runs, ${this.runsPerSecond.toFixed(0)} runs/s${failed}`,
    );
  }
}

function report(game: Game, { seed, message }: Failure): void {
  process.stderr.write(
    `${clearLine()}FAILED ${game.describe(seed)}\n${message}\n` +
      `  replay: ${game.replay} --seeds 1 --start ${seed} --trace\n\n`,
  );
}

const OTHER_GAMES = [
  'walk',
  'device-memory',
  'cm',
  'rxe',
  'stand-in',
  'messages',
  'kv',
  'ucp',
  'rsocket',
  'rsocket-lies',
  'xio',
] as const;

const OPTIONS = {
  seeds: { type: 'string', default: '1000' },
  start: { type: 'string', default: '1' },
  jobs: { type: 'string', default: String(availableParallelism()) },
  json: { type: 'boolean', default: false },
  trace: { type: 'boolean', default: false },
  digest: { type: 'boolean', default: false },
  cm: { type: 'boolean', default: false },
  walk: { type: 'boolean', default: false },
  'device-memory': { type: 'boolean', default: false },
  rxe: { type: 'boolean', default: false },
  'stand-in': { type: 'boolean', default: false },
  messages: { type: 'boolean', default: false },
  kv: { type: 'boolean', default: false },
  ucp: { type: 'boolean', default: false },
  rsocket: { type: 'boolean', default: false },
  'rsocket-lies': { type: 'boolean', default: false },
  xio: { type: 'boolean', default: false },
  steps: { type: 'string' },
  'cm-faults': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function printSummary(game: Game, tally: Tally, wanted: number, json: boolean): void {
  const { runs, total, failures, seconds, runsPerSecond, digest } = tally;
  const trace = digest && { lines: digest.lines, sha256: digest.bits.toString(16).padStart(64, '0') };
  const virtualSeconds = total.virtualUs / 1e6;
  if (json) {
    const figures = { runs, wanted, seconds, runsPerSecond, ...total.counts, virtualSeconds };
    process.stdout.write(`${JSON.stringify({ ...figures, network: total.network, failures, trace }, null, 2)}\n`);
    return;
  }
  process.stderr.write(clearLine());
  process.stdout.write(
    `${runs.toLocaleString('en')} of ${wanted.toLocaleString('en')} runs in ${seconds.toFixed(1)} s ` +
      `(${runsPerSecond.toFixed(0)} runs/s${stepRate(total, seconds)}), ${timeText(virtualSeconds)} of virtual time\n${game.summarise(total)}\n` +
      (trace ? `traces: ${trace.lines.toLocaleString('en')} lines, SHA-256 ${trace.sha256}\n` : '') +
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
  const name: GameName = OTHER_GAMES.find((other) => options[other]) ?? 'traffic';
  const game = gameOf(name, only);
  const wanted = wholeNumber('seeds', options.seeds, 1);
  const start = wholeNumber('start', options.start, 0);
  const jobs = wholeNumber('jobs', options.jobs, 1);
  const tally = new Tally();
  const hear = (played: Played): boolean => {
    tally.add(played);
    for (const failure of played.failures) report(game, failure);
    tally.show(wanted);
    return tally.failures.length < MAX_FAILURES;
  };
  const interruption = new AbortController();
  if (options.trace) {
    const line = (text: string): void => void process.stdout.write(`${text}\n`);
    for (let run = 0; run < wanted; run += 1) if (!hear(await playSeed({ game: name, only }, start + run, line))) break;
  } else {
    process.once('SIGINT', () => interruption.abort());
    await playOnThreads(
      { game: name, only, start, runs: wanted, digest: options.digest },
      jobs,
      interruption.signal,
      hear,
    );
  }
  printSummary(game, tally, wanted, options.json);
  if (tally.failures.length > 0) process.exitCode = 1;
  else if (interruption.signal.aborted) process.exitCode = 130;
}

await main();
