import { parseArgs } from 'node:util';
import { type RunFigures, runSeed } from './run.js';
import { describeScenario, planScenario } from './scenario.js';

const HELP = `Plays seeded runs of random RC traffic between simulated hosts, over a network that loses, doubles, reorders
and damages packets, and checks every byte and every completion against a model.

usage: npm run sim -- [--seeds N] [--start S] [--json] [--trace]

  --seeds N    how many runs (default 1000)
  --start S    seed of the first one; run i has seed S + i (default 1)
  --json       print the summary as JSON
  --trace      print every packet as it is sent; for one run

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
  requests = 0;
  messages = 0;
  packets = 0;
  retransmitted = 0;
  virtualUs = 0;
  readonly network: Record<string, number> = {};
  readonly failures: Failure[] = [];
  readonly #startMs = performance.now();

  add(figures: RunFigures): void {
    this.requests += figures.requests;
    this.messages += figures.messages;
    this.packets += figures.packets;
    this.retransmitted += figures.retransmitted;
    this.virtualUs += figures.virtualUs;
    for (const [name, count] of Object.entries(figures.network)) this.network[name] = (this.network[name] ?? 0) + count;
  }

  get seconds(): number {
    return (performance.now() - this.#startMs) / 1000;
  }

  get runsPerSecond(): number {
    return this.runs / this.seconds;
  }
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least) {
    process.stderr.write(`--${name} takes a whole number from ${String(least)} on, not '${text}'\n`);
    process.exit(2);
  }
  return value;
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        seeds: { type: 'string', default: '1000' },
        start: { type: 'string', default: '1' },
        json: { type: 'boolean', default: false },
        trace: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}\n`);
    process.exit(2);
  }
}

function report(failure: Failure): void {
  process.stderr.write(
    `${clearLine()}FAILED ${describeScenario(planScenario(failure.seed))}\n${failure.message}\n` +
      `  replay: npm run sim -- --seeds 1 --start ${String(failure.seed)} --trace\n\n`,
  );
}

function clearLine(): string {
  return process.stderr.isTTY ? '\r\x1b[K' : '';
}

function play(seed: number, tally: Tally, trace: boolean): void {
  try {
    tally.add(runSeed(seed, trace ? { trace: (line) => process.stdout.write(`${line}\n`) } : {}));
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const failure = { seed, message };
    tally.failures.push(failure);
    report(failure);
  }
  tally.runs += 1;
}

function printSummary(tally: Tally, wanted: number, json: boolean): void {
  const { runs, requests, messages, packets, retransmitted, network, failures, seconds, runsPerSecond } = tally;
  const virtualSeconds = tally.virtualUs / 1e6;
  if (json) {
    const figures = {
      runs,
      wanted,
      seconds,
      runsPerSecond,
      requests,
      messages,
      packets,
      retransmitted,
      virtualSeconds,
    };
    process.stdout.write(`${JSON.stringify({ ...figures, network, failures }, null, 2)}\n`);
    return;
  }
  const count = (value = 0): string => value.toLocaleString('en');
  process.stderr.write(clearLine());
  process.stdout.write(
    `${count(runs)} of ${count(wanted)} runs in ${seconds.toFixed(1)} s (${runsPerSecond.toFixed(0)} runs/s), ` +
      `${virtualSeconds.toFixed(1)} s of virtual time\n` +
      `requests ${count(requests)}, messages received ${count(messages)}, packets ${count(packets)}, ` +
      `sent again ${count(retransmitted)}\n` +
      `lost ${count(network['lost'])}, doubled ${count(network['duplicated'])}, reordered ${count(network['reordered'])}, ` +
      `damaged ${count(network['corrupted'])}, dropped by full queues ` +
      `${count((network['queueDropped'] ?? 0) + (network['inboxDropped'] ?? 0))}\n` +
      (failures.length === 0
        ? 'no failure\n'
        : `${count(failures.length)} failed: seeds ${failures.map(({ seed }) => seed).join(', ')}\n`),
  );
}

async function main(): Promise<void> {
  const options = readOptions();
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  const wanted = wholeNumber('seeds', options.seeds, 1);
  const start = wholeNumber('start', options.start, 0);
  const tally = new Tally();
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  let shownMs = 0;
  while (tally.runs < wanted && !interruption.signal.aborted && tally.failures.length < MAX_FAILURES) {
    const sliceEndMs = performance.now() + SLICE_MS;
    while (tally.runs < wanted && tally.failures.length < MAX_FAILURES && performance.now() < sliceEndMs)
      play(start + tally.runs, tally, options.trace);
    if (process.stderr.isTTY && performance.now() - shownMs > PROGRESS_MS) {
      shownMs = performance.now();
      const failed = tally.failures.length === 0 ? '' : `, ${String(tally.failures.length)} failed`;
      process.stderr.write(
        `${clearLine()}${String(tally.runs)} of ${String(wanted)} runs, ${tally.runsPerSecond.toFixed(0)} runs/s${failed}`,
      );
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  printSummary(tally, wanted, options.json);
  if (tally.failures.length > 0) process.exitCode = 1;
  else if (interruption.signal.aborted) process.exitCode = 130;
}

await main();
