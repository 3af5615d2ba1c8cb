import { Fuzz } from './fuzz.js';
import { clearLine, readOptions, wholeNumber } from '../support/command-line.js';

const HELP = `Throws hostile packets at a NIC with queue pairs of every type in every state: every opcode, right and wrong keys,
addresses, lengths, PSNs, P_Keys, Q_Keys, senders and checksums. Fails when a packet has an effect that the rules of the
protocol do not give it, when a byte beside a memory region changes, or when anything throws.

usage: npm run fuzz -- [--packets N] [--seed S] [--json]

  --packets N  how many packets (default 1000000; 1e7 is understood)
  --seed S     where all choices come from (default 1)
  --json       print the summary as JSON

Ctrl-C ends it with the summary so far. The exit status is 1 when something is wrong.`;

const SLICE_PACKETS = 20_000;
const PROGRESS_MS = 250;

const OPTIONS = {
  packets: { type: 'string', default: '1000000' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function printSummary({ figures }: Fuzz, wanted: number, seed: number, seconds: number, json: boolean): void {
  const packetsPerSecond = figures.packets / seconds;
  if (json) {
    process.stdout.write(`${JSON.stringify({ seed, wanted, seconds, packetsPerSecond, ...figures }, null, 2)}\n`);
    return;
  }
  const count = (value: number): string => value.toLocaleString('en');
  const drops = Object.entries(figures.counters).filter(([name, value]) => name.startsWith('rx_') && value > 0);
  process.stdout.write(
    `${count(figures.packets)} of ${count(wanted)} packets of seed ${seed} in ${seconds.toFixed(1)} s ` +
      `(${count(Math.round(packetsPerSecond))} packets/s)\n` +
      `entitled to an effect ${count(figures.entitled)}, answers ${count(figures.answers)}, ` +
      `completions ${count(figures.completions)}, events ${count(figures.events)}\n` +
      `dropped: ${drops.map(([name, value]) => `${name} ${count(value)}`).join(', ')}\n`,
  );
}

async function main(): Promise<void> {
  const options = readOptions(OPTIONS, HELP);
  if (options.help) {
    process.stdout.write(`${HELP}\n`);
    return;
  }
  const wanted = wholeNumber('packets', options.packets);
  const seed = wholeNumber('seed', options.seed);
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort());
  const fuzz = new Fuzz(seed);
  const startMs = performance.now();
  let shownMs = startMs;
  let failure: Error | undefined;
  try {
    while (fuzz.figures.packets < wanted && !interruption.signal.aborted) {
      fuzz.run(Math.min(SLICE_PACKETS, wanted - fuzz.figures.packets));
      if (process.stderr.isTTY && performance.now() - shownMs > PROGRESS_MS) {
        shownMs = performance.now();
        process.stderr.write(`${clearLine()}${fuzz.figures.packets.toLocaleString('en')} packets`);
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    failure = error;
  }
  process.stderr.write(clearLine());
  printSummary(fuzz, wanted, seed, (performance.now() - startMs) / 1000, options.json);
  if (failure !== undefined) {
    process.stderr.write(
      `FAILED: ${failure.stack ?? failure.message}\nreplay: npm run fuzz -- --seed ${seed} --packets ${fuzz.figures.packets}\n`,
    );
    process.exitCode = 1;
  } else if (interruption.signal.aborted) {
    process.exitCode = 130;
  }
}

await main();
